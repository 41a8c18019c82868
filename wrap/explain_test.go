package wrap

import (
	"os"
	"path/filepath"
	"testing"
)

// explained is a world, planned for a document.
func explained(t testing.TB, doc, facts string) (*world, *Adviser) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(plans, "world.txt"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, string(text), facts)
	r, err := w.resolve(doc)
	if err != nil {
		t.Fatal(err)
	}
	a := &Adviser{Resolved: r, Host: w.probed(r), Request: w.req}
	if a.Plan, err = Build(r, a.Host, w.req); err != nil {
		t.Fatal(err)
	}
	return w, a
}

// The View says which line denies an act, and the advice is the smallest line that
// allows it.
func TestExplain(t *testing.T) {
	const (
		ww     = `{"access_mode":"workspace-write"}`
		ro     = `{"access_mode":"read-only"}`
		system = `{"access_mode":"workspace-write","filesystem":{"read":["@system"]}}`
		home   = `{"access_mode":"workspace-write","filesystem":{"write":["~"]}}`
		mounts = `{"access_mode":"workspace-write","filesystem":{"mounts":[{"label":"l","source":"/srv/data","target":"/data","mode":"ro"},{"label":"m","source":"/home/u/lib","target":"/home/u/w/out","mode":"rw"}]}}`
	)
	for _, c := range []struct {
		what, doc          string
		act                Act
		rule, allow, opens string
	}{
		{"a file beside the workspace", ww, Act{ToWrite, "/home/u/lib/util.go"}, "access_mode: workspace-write", `filesystem.write: ["/home/u/lib/util.go"]`, ""},
		{"a new file", ww, Act{ToMake, "/home/u/lib/new"}, "access_mode: workspace-write", `filesystem.write: ["/home/u/lib"]`, "/home/u/lib"},
		{"a new directory deep in none", ww, Act{ToMake, "/srv/data/a/b"}, "access_mode: workspace-write", `filesystem.write: ["/srv/data"]`, "/srv/data"},
		{"a file that is to go", ww, Act{ToTake, "/srv/data/set.csv"}, "access_mode: workspace-write", `filesystem.write: ["/srv/data"]`, "/srv/data"},
		{"a name in the root", ww, Act{ToMake, "/none-such"}, "access_mode: workspace-write", "", ""},
		{"the kernel's own", ww, Act{ToWrite, "/sys/kernel/x"}, "access_mode: workspace-write", "", ""},
		{"the workspace itself", ww, Act{ToTake, "/home/u/w"}, "protected_names", "", ""},
		{"git's configuration", ww, Act{ToTake, "/home/u/w/.git/config"}, "protected_names", `filesystem.write: [".git/config"]`, ""},
		{"a hook", ww, Act{ToMake, "/home/u/w/.git/hooks/post-commit"}, "protected_names", `filesystem.write: [".git/hooks"]`, "/home/u/w/.git/hooks"},
		{"on the way in git", ww, Act{ToMake, "/home/u/w/.git/modules"}, "protected_names", `filesystem.write: [".git"]`, "/home/u/w/.git"},
		{"a link in git", ww, Act{ToLink, "/home/u/w/.git/link"}, "protected_names", `filesystem.write: [".git"]`, "/home/u/w/.git"},
		{"a protected name", ww, Act{ToMake, "/home/u/w/.mcp.json"}, "protected_names", `filesystem.write: [".mcp.json"]`, ""},
		{"what the workspace lets be written", ww, Act{ToWrite, "/home/u/w/main.go"}, "", "", ""},
		{"a read-only workspace", ro, Act{ToWrite, "/home/u/w/main.go"}, "access_mode: read-only", "access_mode: workspace-write", "/home/u/w"},
		{"readonly", `{"access_mode":"workspace-write","readonly":true}`, Act{ToMake, "/home/u/w/new"}, "readonly: true", "readonly: false", "/home/u/w"},
		{"beside readonly", `{"access_mode":"workspace-write","readonly":true}`, Act{ToMake, "/srv/data/new"}, "readonly: true", "", ""},
		{"a workshop", `{"sandbox":{"root":"/home/u/w","readonly":true}}`, Act{ToMake, "/home/u/w/new"}, "sandbox.readonly: true", "sandbox.readonly: false", "/home/u/w"},
		{"no mode", `{"filesystem":{"write":["out"]}}`, Act{ToWrite, "/home/u/w/main.go"}, "filesystem.write", `filesystem.write: ["out", "main.go"]`, ""},
		{"no protected names", `{"filesystem":{"write":["."]}}`, Act{ToLink, "/home/u/w/.git/link"}, "", "", ""},
		{"hidden by the document", `{"access_mode":"workspace-write","filesystem":{"hide":["out","/srv/data"]}}`, Act{ToMake, "/srv/data/new"}, "filesystem.hide[1]", "", ""},
		{"a mount", mounts, Act{ToWrite, "/data/set.csv"}, "filesystem.mounts[0]: mode ro", "filesystem.mounts[0].mode: rw", "/data"},
		{"a mount that can be written", mounts, Act{ToWrite, "/home/u/w/out/util.go"}, "", "", ""},
		{"a program out of view", system, Act{ToRead, "/srv/data/set.csv"}, "filesystem.read", `filesystem.read: ["@system", "/srv/data/set.csv"]`, ""},
		{"a program of the system", `{"filesystem":{"read":["/usr/bin","."]}}`, Act{ToRead, "/usr/lib/libc.so"}, "filesystem.read", `filesystem.read: ["@system", "/usr/bin", "."]`, ""},
		{"a new file out of view", system, Act{ToMake, "/srv/data/new"}, "filesystem.read", `filesystem.write: ["/srv/data"]`, "/srv/data"},
		{"a file that is there, out of view", system, Act{ToMake, "/srv/data/set.csv"}, "filesystem.read", `filesystem.write: ["/srv/data/set.csv"]`, ""},
		{"a file in view", system, Act{ToWrite, "/usr/lib/libc.so"}, "filesystem.read", `filesystem.write: ["/usr/lib/libc.so"]`, ""},
		{"a secret directory", home, Act{ToRead, "/home/u/.ssh"}, "secrets", `filesystem.read: ["/", "/home/u/.ssh"]`, ""},
		{"a file in one", home, Act{ToWrite, "/home/u/.ssh/known_hosts"}, "secrets", `filesystem.write: ["~", "/home/u/.ssh/known_hosts"]`, ""},
		{"a removable medium", ww, Act{ToRead, "/media/stick"}, "secrets", `filesystem.write: ["/media/stick"]`, ""},
		{"a socket", ww, Act{ToConnect, "/srv/sock"}, "network", `filesystem.write: ["/srv/sock"]`, ""},
		{"no name for a document", ww, Act{ToWrite, "/srv/data/a*"}, "access_mode: workspace-write", `filesystem.write: ["/srv/data"]`, "/srv/data"},
	} {
		_, a := explained(t, c.doc, "socket /srv/sock\nfile /media/stick/key\nremovable /media/stick\nfile /srv/data/a*")
		if got := a.Plan.Explain(a.Resolved, c.act).Rule; got != c.rule {
			t.Errorf("%s: %q denies it, not %q", c.what, got, c.rule)
		}
		if got := a.On(c.act); got != (Advice{c.allow, c.opens}) {
			t.Errorf("%s: %+v, want %s, opening %q", c.what, got, c.allow, c.opens)
		}
	}
}

// A file that is there before the start is named alone.
func TestAdviceAlone(t *testing.T) {
	_, a := explained(t, `{"access_mode":"workspace-write"}`, "")
	for path, want := range map[string]string{"/home/u/lib/new": `filesystem.write: ["/home/u/lib/new"]`, "/proc/new": ""} {
		if got := a.Alone(Act{ToMake, path}); got != want {
			t.Errorf("%s: %s, not %s", path, got, want)
		}
	}
}

// Where an outer sandbox has the files, the line is the one that the document lacks.
func TestExplainInside(t *testing.T) {
	w, a := explained(t, `{"access_mode":"workspace-write"}`, "")
	w.host.Rungs[RungUser], w.host.Rungs[RungRoot] = Answer{State: No}, Answer{State: No}
	act := Act{ToTake, "/home/u/lib/util.go"}
	a.Plan = &Plan{}
	if got := a.Plan.Explain(a.Resolved, act).Rule; got != "access_mode: workspace-write" {
		t.Error(got)
	}
	if got := a.On(act); got.Line != `filesystem.write: ["/home/u/lib"]` {
		t.Error(got)
	}
}

func BenchmarkAdvice(b *testing.B) {
	_, a := explained(b, `{"access_mode":"workspace-write"}`, "")
	for b.Loop() {
		a.tried, a.known = nil, nil
		if a.On(Act{ToMake, "/home/u/lib/new"}).Line == "" {
			b.Fatal("none")
		}
	}
}
