package view

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func show(path string, a Access, source string) Layer {
	return Layer{Path: path, Grant: Grant{Access: a, Source: source}}
}

func TestAt(t *testing.T) {
	closed := Layer{Path: "/w/.git", Kind: Close, Grant: Grant{Protected: true, Because: Cause{Field: "protected_names"}}}
	tree := New(0).With(show("/", Read, "/")).With(show("/w", Write, "/home/w")).With(show("/w/in", Read, "/srv")).
		With(closed).With(show("/w/key", Hidden, "")).With(show("/tmp", Write, "")).
		WithNames(Names{Top: "/home/w", Because: func(rel string) (Cause, bool) { return Cause{Why: rel}, strings.HasSuffix(rel, "/x") }})
	for _, c := range []struct {
		path string
		want Grant
	}{
		{"/", Grant{Access: Read, Source: "/"}},
		{"/etc/passwd", Grant{Access: Read, Source: "/etc/passwd"}},
		{"/w", Grant{Access: Write, Source: "/home/w"}},
		{"/wide", Grant{Access: Read, Source: "/wide"}},
		{"/w/a/b", Grant{Access: Write, Source: "/home/w/a/b"}},
		{"/w/a/x", Grant{Access: Read, Source: "/home/w/a/x", Protected: true, Because: Cause{Why: "a/x"}}},
		{"/w/in/x", Grant{Access: Read, Source: "/srv/x"}},
		{"/w/.git/config", Grant{Access: Read, Source: "/home/w/.git/config", Protected: true, Because: Cause{Field: "protected_names"}}},
		{"/w/key", Grant{Access: Hidden}},
		{"/w/key/in", Grant{}},
		{"/tmp/x", Grant{Access: Write}},
	} {
		if got := tree.At(c.path); got != c.want {
			t.Errorf("At(%s) is %+v, not %+v", c.path, got, c.want)
		}
	}
	if g := (Tree{}).At("/x"); g != (Grant{}) {
		t.Errorf("in an empty tree there is %+v", g)
	}
}

// Of two Trees the less is let be done at each path, whichever has it and however deep.
func TestMeet(t *testing.T) {
	names := Names{Top: "/w", Because: func(rel string) (Cause, bool) { return Cause{}, rel == ".git" }}
	outer := New(0).With(show("/", Read, "/")).With(show("/tmp", Write, "")).With(show("/w", Write, "/w")).With(show("/w/key", Hidden, "")).WithNames(names)
	inner := New(0).With(show("/", Read, "/")).With(show("/w/a", Write, "/w/a")).With(show("/w/key", Write, "/w/key"))
	met := outer.Meet(inner)
	for path, want := range map[string]Grant{
		"/etc":     {Access: Read, Source: "/etc"},
		"/tmp/x":   {Access: Read, Source: "/tmp/x"},
		"/w":       {Access: Read, Source: "/w"},
		"/w/a/x":   {Access: Write, Source: "/w/a/x"},
		"/w/key":   {Access: Hidden},
		"/w/key/x": {},
		"/w/.git":  {Access: Read, Source: "/w/.git"},
	} {
		if got := met.At(path); got != want {
			t.Errorf("At(%s) is %+v, not %+v", path, got, want)
		}
	}
	all := outer.Meet(New(0).With(show("/", Write, "/")))
	for path, want := range map[string]Access{"/etc": Read, "/tmp/x": Write, "/w/x": Write, "/w/.git": Read, "/w/key": Hidden} {
		if got := all.At(path).Access; got != want {
			t.Errorf("with a host that may be written, %s is %v, not %v", path, got, want)
		}
	}
}

func TestImages(t *testing.T) {
	tree := New(0).With(show("/", Read, "/")).With(show("/a", Read, "/srv/data")).With(show("/b", Write, "/srv")).With(show("/b/data/k", Hidden, ""))
	for host, want := range map[string]string{
		"/srv":        "/srv /b",
		"/srv/data":   "/srv/data /a /b/data",
		"/srv/data/k": "/srv/data/k /a/k",
		"/b":          "", // something else is mounted there
		"/etc":        "/etc",
	} {
		if got := strings.Join(tree.Images(host), " "); got != want {
			t.Errorf("Images(%s) are %s, not %s", host, got, want)
		}
	}
	if got := strings.Join(tree.Parts("/srv/data"), " "); got != "/a" {
		t.Errorf("Parts are %s", got)
	}
}

// A Tree says what its layers say, asked one by one from the top.
func TestTreeIsItsLayers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	path := func() string {
		p := ""
		for range r.IntN(4) {
			p += "/" + []string{"a", "b", "a-", "ab"}[r.IntN(4)]
		}
		if p == "" {
			return "/"
		}
		return p
	}
	for range 2000 {
		var layers []Layer
		tree := New(0)
		for range 1 + r.IntN(8) {
			l := show(path(), []Access{Hidden, Read, Write}[r.IntN(3)], []string{"", path()}[r.IntN(2)])
			if r.IntN(3) == 0 {
				l = Layer{Path: path(), Kind: Close}
			}
			if l.Access == Hidden {
				l.Source = ""
			}
			layers = append(layers, l)
			tree = tree.With(l)
		}
		for range 20 {
			p, want, closed := path(), Grant{}, false
			for _, l := range slices.Backward(layers) {
				if !Within(p, l.Path) {
					continue
				}
				if l.Kind == Close {
					closed = true
					continue
				}
				at := place{l.Path, l.Grant}
				want = at.under(p)
				if want.Access == Write && closed {
					want.Access = Read
				}
				break
			}
			if got := tree.At(p); got != want {
				t.Fatalf("At(%s) is %+v, not %+v: %+v", p, got, want, layers)
			}
		}
	}
}

// A child is compared at the places of both, by whatever name the host's path shows; what
// something else covers in the parent does not show there.
func TestWider(t *testing.T) {
	parent := New(0).With(show("/", Absent, "")).With(show("/usr", Read, "/usr")).With(show("/w", Write, "/w")).
		With(show("/w/key", Hidden, "")).With(show("/mnt", Read, "/srv")).With(show("/mnt/in", Read, "/etc")).
		With(show("/opt", Write, "/data")).With(show("/usr/lib", Write, "")).With(show("/w/ro", Read, "/w/ro"))
	for _, c := range []struct {
		child Layer
		want  string // the paths that differ
	}{
		{show("/usr/bin", Read, "/usr/bin"), ""},
		{show("/usr/bin", Write, "/usr/bin"), "/usr/bin"},
		{show("/usr", Read, "/usr"), "/usr/lib"}, // which is not the host's in the parent
		{show("/usr", Hidden, ""), ""},
		{show("/w/a", Write, "/w/a"), ""},
		{show("/x", Write, "/w/a"), ""},
		{show("/x", Read, "/w"), "/x/key"},
		{show("/x", Write, "/w"), "/x/key /x/ro"},
		{show("/w/key/in", Read, "/w/key/in"), "/w/key/in"},
		{show("/data", Write, "/data"), ""}, // all of it shows at /opt
		{show("/srv/x", Read, "/srv/x"), ""},
		{show("/srv", Read, "/srv"), "/srv"}, // not all of it shows at /mnt
		{show("/etc", Read, "/etc"), ""},
		{show("/root", Read, "/root"), "/root"},
		{show("/x", Write, ""), ""}, // its own
		{show("/", Read, "/"), "/ /mnt /mnt/in /opt /usr/lib /w/key"},
	} {
		var got []string
		for _, d := range Wider(parent, New(0).With(c.child)) {
			got = append(got, d.Path)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v is wider at %q, not %q", c.child, got, c.want)
		}
	}
	if more := Wider(parent, parent); len(more) > 0 {
		t.Errorf("a tree is wider than itself: %+v", more)
	}
}

// scanned is Images and Parts as a search through all places finds them.
func (t Tree) scanned(host string) (images, parts []string) {
	for i := range t.places {
		p := &t.places[i]
		if p.shows(p.Source) && Within(p.Source, host) {
			parts = append(parts, p.path)
		}
		if p.Source != "" && p.Access >= Read && Within(host, p.Source) {
			rel, _ := Relative(host, p.Source)
			image := Join(p.path, rel)
			if t.at(image).shows(host) && !slices.Contains(images, image) {
				images = append(images, image)
			}
		}
	}
	slices.Sort(images)
	return images, parts
}

// TestSourcesAreFound: whatever layers a Tree has, its sources lead to the same places as a
// search through all of them.
func TestSourcesAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	path := func() string {
		p := ""
		for range r.IntN(4) {
			p += "/" + string("abc"[r.IntN(3)]) + strings.Repeat("-", r.IntN(2))
		}
		if p == "" {
			return "/"
		}
		return p
	}
	for range 500 {
		tree := New(0)
		for range r.IntN(30) {
			l := Layer{Path: path(), Grant: Grant{Access: Access(r.IntN(4))}}
			if l.Access >= Read && r.IntN(4) > 0 {
				l.Source = path()
			}
			if r.IntN(4) == 0 {
				l.Kind = Close
			}
			tree = tree.With(l)
		}
		for range 30 {
			host := path()
			images, parts := tree.scanned(host)
			got := tree.Images(host)
			if slices.Contains(got, host) && got[0] != host {
				t.Errorf("%s is not the first of its images %q", host, got)
			}
			if slices.Sort(got); !slices.Equal(got, images) || !slices.Equal(tree.Parts(host), parts) {
				t.Fatalf("%s: images %q and parts %q, not %q and %q, in %+v", host, got, tree.Parts(host), images, parts, tree.places)
			}
			var nearest *place
			for i := range tree.places {
				if p := &tree.places[i]; Within(host, p.path) && (nearest == nil || len(p.path) > len(nearest.path)) {
					nearest = p
				}
			}
			if tree.holding(host) != nearest {
				t.Fatalf("%s is held by %+v, not %+v", host, tree.holding(host), nearest)
			}
		}
	}
}
