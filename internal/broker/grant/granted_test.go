package grant

import (
	"math/rand/v2"
	"strings"
	"testing"

	"sbx/internal/broker/caps"
	"sbx/internal/broker/wire"
	"sbx/internal/view"
)

func parse(t testing.TB, text string) caps.Cap {
	c, why := caps.Parse(text, "/w")
	if why != "" {
		t.Fatalf("%s: %s", text, why)
	}
	return c
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"fs.read:a/./b": "fs.read:/w/a/b", "fs.write:/x//y/": "fs.write:/x/y", "net:example.com:443": "net:example.com:443", "secret:A": "secret:A", "exec:gh": "exec:gh",
	} {
		if got := parse(t, text).String(); got != want {
			t.Errorf("%s is %s", text, got)
		}
	}
	for _, text := range []string{"", "fs.read:", "fs.read:../x", "fs.read:/a/..", "fs.look:/a", "net:example.com", "net:https://example.com:1", "secret:", "fs.read:/a\x00"} {
		if c, why := caps.Parse(text, "/w"); why == "" {
			t.Errorf("%q is %v", text, c)
		}
	}
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"fs.read:/w", "fs.read:/w/a", true}, {"fs.read:/w", "fs.write:/w/a", false}, {"fs.write:/w", "fs.read:/w/a", true}, {"fs.read:/w/a", "fs.read:/w", false}, {"fs.read:/w", "fs.read:/wa", false},
		{"net:*.a.com:443", "net:x.a.com:443", true}, {"net:a.com:443", "net:a.com:80", false}, {"net:a.com:*", "net:a.com:80", true},
		{"secret:A", "secret:A", true}, {"secret:A", "secret:B", false}, {"exec:a", "secret:a", false},
	} {
		if got := parse(t, c.a).Covers(parse(t, c.b)); got != c.want {
			t.Errorf("%s covers %s: %v", c.a, c.b, got)
		}
	}
}

// sandbox returns a workspace with a protected directory, a hidden file and a read-only directory,
// and a /tmp of its own.
func sandbox(t testing.TB) *Granted {
	g, err := New(&wire.Granted{
		View: []wire.Place{{Path: "/", Access: "read-only", Source: "/"}, {Path: "/tmp", Access: "writable"}, {Path: "/in", Access: "read-only", Source: "/host/in"},
			{Path: "/w", Access: "writable", Source: "/w"}, {Path: "/w/.git/hooks", Access: "read-only", Source: "/w/.git/hooks", Protected: true},
			{Path: "/w/h/secret", Access: "hidden"}, {Path: "/w/r/only", Access: "read-only", Source: "/w/r/only"}},
		Trees: []string{"/w"}, Reach: []string{"*.a.com:443", "10.0.0.0/8:5432"}, Programs: []string{"/bin/ls"}, Caps: []string{"secret:S", "fs.write:/extra", "net:b.com:443"},
	}, "/w")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGranted(t *testing.T) {
	g := sandbox(t)
	for text, want := range map[string]bool{
		"fs.read:/w/a": true, "fs.write:/w/a": true, "fs.write:/w/.git/hooks": false, "fs.write:/w/.git/hooks/x": false, "fs.read:/w/.git/hooks": true,
		"fs.write:/w/.git": false, "fs.write:/w/sub/.git/hooks": false, "fs.write:/w/.vscode": false, // names that must not be created
		"fs.read:/w/h": false, "fs.read:/w/h/secret": false, "fs.read:/w/h/other": true, "fs.read:/w": false,
		"fs.write:/w/r": false, "fs.read:/w/r": true, "fs.write:/w/r/only": false, "fs.read:/w/r/only/x": true,
		"fs.read:/in/x": true, "fs.write:/in/x": false, "fs.read:/tmp/x": false, "fs.read:/": false, "fs.read:/usr/lib": true, "fs.write:/usr/lib": false,
		"fs.write:/extra/x": true, "fs.read:/extra": true,
		"net:x.a.com:443": true, "net:a.com:443": false, "net:x.a.com:80": false, "net:10.1.2.3:5432": true, "net:b.com:443": true, "net:c.com:443": false,
		"exec:/bin/ls": true, "exec:ls": false, "secret:S": true, "secret:T": false,
	} {
		if got := g.Covers(parse(t, text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	g := sandbox(t)
	list := func(texts ...string) (all []caps.Cap) {
		for _, text := range texts {
			all = append(all, parse(t, text))
		}
		return all
	}
	for _, c := range []struct {
		needed, requested []caps.Cap
		lacks             string
		with              string
	}{
		{list("fs.read:/w/a"), list("fs.read:/w/a"), "", ""},
		{list("fs.read:/w/a"), list("fs.write:/w/a", "secret:S"), "", ""},
		{nil, nil, "", ""},
		{list("fs.read:/w/a"), nil, "fs.read:/w/a", `requested_caps: ["fs.read:/w/a"]`},
		{list("fs.read:/w/a"), list("fs.read:/w/b"), "fs.read:/w/a", `requested_caps: ["fs.read:/w/a"]`},
		{list("net:c.com:1"), list("net:c.com:1"), "net:c.com:1", `broker.grant: ["net:c.com:1"]`},
		{nil, list("secret:T"), "secret:T", `broker.grant: ["secret:T"]`},
	} {
		lack := g.Check(c.needed, c.requested)
		if (lack == nil) != (c.lacks == "") {
			t.Errorf("%v of %v: %+v", c.needed, c.requested, lack)
			continue
		}
		if lack == nil {
			continue
		}
		if _, with := lack.Advice(); lack.Cap.String() != c.lacks || with != c.with {
			t.Errorf("%v of %v: %v, %s", c.needed, c.requested, lack.Cap, with)
		}
	}
}

// TestNothingBeneathIsWider checks that a path under a granted one is granted, or protected by its
// name. A call that follows the advice is allowed.
func TestNothingBeneathIsWider(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "b", ".git", "hooks", "c"}
	path := func() string {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteString("/" + names[r.IntN(len(names))])
		}
		return b.String()
	}
	granted := 0
	for range 5000 {
		w := wire.Granted{View: []wire.Place{{Path: "/", Access: accesses[r.IntN(4)].String(), Source: "/"}}}
		for range r.IntN(5) {
			p := path()
			place := wire.Place{Path: p, Access: accesses[r.IntN(4)].String(), Protected: r.IntN(4) == 0}
			if r.IntN(3) > 0 {
				place.Source = p
			}
			w.View = append(w.View, place)
		}
		g, err := New(&w, "/")
		if err != nil {
			t.Fatal(err)
		}
		c := caps.Cap{Kind: caps.Kind(r.IntN(2)), Value: path()}
		if !g.Covers(c) {
			if lack := g.Check([]caps.Cap{c}, []caps.Cap{c}); lack == nil {
				t.Fatalf("%v is not granted and passes", c)
			} else if w.Caps = []string{c.String()}; func() bool { g, _ := New(&w, "/"); return g.Check([]caps.Cap{c}, []caps.Cap{c}) != nil }() {
				t.Fatalf("%v: the advice does not help", c)
			}
			continue
		}
		granted++
		for range 20 {
			at := c.Value
			if r.IntN(3) > 0 {
				at += path()
			}
			got := g.Tree.At(at)
			if got.Source == "" || got.Access < view.Read+view.Access(c.Kind) && !(got.Protected && got.Access == view.Read && at != c.Value) {
				t.Fatalf("%v is granted, and %s is %+v in %+v", c, at, got, w.View)
			}
		}
	}
	if granted < 500 {
		t.Errorf("only %d were granted", granted)
	}
}
