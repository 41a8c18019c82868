package wrap

import (
	"slices"
	"strings"
	"testing"

	"sbx/internal/doc"
	"sbx/internal/reach"
	"sbx/spec"
)

func placesOf(d *draft) *places { return &places{draft: d} }

// The outer sandbox reports which secrets its documents open, also those of other homes, since an
// sbx inside would otherwise report them as hidden.
func TestParentTellsWhatIsOpened(t *testing.T) {
	read := []spec.Path{}
	for _, p := range []string{"/home/me/.ssh/known_hosts", "/home/other/.ssh", "/root/.aws", "/srv/.ssh", "/home/me/src"} {
		read = append(read, spec.Path{Abs: p, Real: p, Exists: true, IsDir: true, Field: "filesystem.read[0]"})
	}
	read = append(read, spec.Path{Abs: "/home/me/.kube", Real: "/home/me/.kube", Exists: true, IsDir: true}) // implied
	b := reporter{placesOf(&draft{h: &Host{Home: "/home/me"}, r: &spec.Resolved{Spec: &spec.SandboxSpec{}, Private: true, Read: read}})}
	want := []string{"/home/me/.ssh/known_hosts", "/home/other/.ssh", "/root/.aws"}
	if got := b.parentOf().Opened; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// An sbx inside learns which endpoints its network has, and may request those. If it requests
// fewer, the outer supervisor enforces that, provided it answers calls and Landlock has scopes.
func TestParentTellsItsReach(t *testing.T) {
	allow := func(items ...string) (all reach.Reach) {
		for _, item := range items {
			rules, err := reach.Expand(item, "network.allow[0]")
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, rules...)
		}
		return all
	}
	outer := reporter{placesOf(&draft{h: &Host{}, plan: Plan{Counter: CounterNotify}, r: &spec.Resolved{Spec: &spec.SandboxSpec{}, Network: spec.NetworkAllow, Reach: allow("a.example:443", "@pypi")}})}
	n, err := doc.ParseJSON("", outer.parentOf().AppendJSON(nil))
	if err != nil {
		t.Fatal(err)
	}
	held, ok := ParseParent(n)
	if !ok || strings.Join(held.Reach, " ") != "a.example:443 pypi.org:443 files.pythonhosted.org:443" {
		t.Fatalf("%+v", held)
	}
	d, err := held.Document(func(string) bool { return true })
	if err != nil || d.Network.Value.Mode.Value != spec.NetworkAllow || !slices.Equal(d.Network.Value.Allow.Value, held.Reach) {
		t.Errorf("%+v, %v", d.Network, err)
	}
	for _, c := range []struct {
		network spec.NetworkMode
		inner   reach.Reach
		narrow  bool
	}{
		{spec.NetworkAllow, outer.r.Reach, false},
		{spec.NetworkAllow, allow("*.example:443", "@pypi"), false},
		{spec.NetworkAllow, allow("@pypi"), true},
		{spec.NetworkNone, nil, true},
	} {
		for name, host := range map[string]struct {
			abi    int
			filter bool
			mute   bool
			holds  bool
		}{
			"all":         {scopesABI, true, false, true},
			"no scopes":   {scopesABI - 1, true, false, false},
			"no filter":   {scopesABI, false, false, false},
			"no listener": {scopesABI, true, true, false},
		} {
			b := nesting{rules{placesOf(&draft{h: &Host{LandlockABI: host.abi}, plan: Plan{Filter: Filter{On: host.filter}}, r: &spec.Resolved{Spec: &spec.SandboxSpec{}, Network: c.network, Reach: c.inner}})}}
			held := *held
			held.Narrows = held.Narrows && !host.mute
			b.nestedNetwork(&held)
			n := b.plan.Narrow
			if (n != nil) != (c.narrow && host.holds) || (len(b.problems) > 0) != (c.narrow && !host.holds) {
				t.Errorf("%s: %v under %v: %v, %v", name, c.inner, held.Reach, n, b.problems)
			}
			if n == nil {
				continue
			}
			n.Sockets = []string{"/srv/a socket"}
			back, ok := ParseNarrow(n.Text())
			if !ok || len(back.Reach) != len(c.inner) || !slices.Equal(back.Reach, n.Reach) || !slices.Equal(back.Sockets, n.Sockets) || !b.plan.Filter.NoFastOpen {
				t.Errorf("%+v is read as %+v, %v", n, back, ok)
			}
		}
	}
	for _, text := range []string{"a.example:443", "\x00", "\x00a.example:443\x00"} {
		if n, ok := ParseNarrow(text); ok {
			t.Errorf("%q is taken for %+v", text, n)
		}
	}
}

// An sbx inside learns which ports are published, and may request those.
func TestParentTellsItsPorts(t *testing.T) {
	ports := func(all ...string) (list []reach.Listen) {
		for _, text := range all {
			l, err := reach.ParseListen(text)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, l)
		}
		return list
	}
	outer := reporter{placesOf(&draft{h: &Host{}, r: &spec.Resolved{Spec: &spec.SandboxSpec{}, Listen: ports("0.0.0.0:80:3000", "8080:8080")}})}
	if got := outer.parentOf().Listen; got != nil {
		t.Errorf("ports that are not published are told: %v", got)
	}
	outer.plan.Publish = true
	n, err := doc.ParseJSON("", outer.parentOf().AppendJSON(nil))
	if err != nil {
		t.Fatal(err)
	}
	held, ok := ParseParent(n)
	if !ok || !slices.Equal(held.Listen, outer.r.Listen) {
		t.Fatalf("%+v", held)
	}
	d, err := held.Document(func(string) bool { return true })
	if err != nil || !slices.Equal(d.Network.Value.Listen.Value, held.Listen) {
		t.Errorf("%+v, %v", d.Network, err)
	}
	for _, c := range []struct {
		inner []reach.Listen
		told  string
	}{
		{held.Listen, ""},
		{ports("0.0.0.0:80:3000"), "the outer sandbox publishes 127.0.0.1:8080:8080"},
		{ports("0.0.0.0:80:3000", "8080:8080", "8081:8080"), "the outer sandbox does not publish 127.0.0.1:8081:8080"},
	} {
		b := nesting{rules{placesOf(&draft{h: &Host{}, r: &spec.Resolved{Spec: &spec.SandboxSpec{}, Listen: c.inner}})}}
		b.nestedListen(held)
		told := ""
		if len(b.problems) > 0 {
			told = b.problems[0].Why
		}
		if told != c.told {
			t.Errorf("%v under %v: %q, want %q", c.inner, held.Listen, told, c.told)
		}
	}
}
