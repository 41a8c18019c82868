package wrap_test

import (
	"testing"

	"sbx/wrap"
	"sbx/wrap/world"
)

// explained returns a world, with a plan for a document.
func explained(t testing.TB, doc, facts string) (*world.World, *wrap.Adviser) {
	t.Helper()
	w := world.Workstation(t, facts)
	r, err := w.Resolve(doc)
	if err != nil {
		t.Fatal(err)
	}
	a := &wrap.Adviser{Resolved: r, Host: w.Probed(r), Request: w.Req}
	if a.Plan, err = wrap.Build(r, a.Host, w.Req); err != nil {
		t.Fatal(err)
	}
	return w, a
}

// The View names the line that denies an act, and the advice is the smallest line that allows it.
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
		act                wrap.Act
		rule, allow, opens string
	}{
		{"a file beside the workspace", ww, wrap.Act{wrap.ToWrite, "/home/u/lib/util.go"}, "access_mode: workspace-write", `filesystem.write: ["/home/u/lib/util.go"]`, ""},
		{"a new file", ww, wrap.Act{wrap.ToMake, "/home/u/lib/new"}, "access_mode: workspace-write", `filesystem.write: ["/home/u/lib"]`, "/home/u/lib"},
		{"a new directory deep in none", ww, wrap.Act{wrap.ToMake, "/srv/data/a/b"}, "access_mode: workspace-write", `filesystem.write: ["/srv/data"]`, "/srv/data"},
		{"a file that is to go", ww, wrap.Act{wrap.ToTake, "/srv/data/set.csv"}, "access_mode: workspace-write", `filesystem.write: ["/srv/data"]`, "/srv/data"},
		{"a name in the root", ww, wrap.Act{wrap.ToMake, "/none-such"}, "access_mode: workspace-write", "", ""},
		{"the kernel's own", ww, wrap.Act{wrap.ToWrite, "/sys/kernel/x"}, "access_mode: workspace-write", "", ""},
		{"the workspace itself", ww, wrap.Act{wrap.ToTake, "/home/u/w"}, "protected_names", "", ""},
		{"git's configuration", ww, wrap.Act{wrap.ToTake, "/home/u/w/.git/config"}, "protected_names", `filesystem.write: [".git/config"]`, ""},
		{"a hook", ww, wrap.Act{wrap.ToMake, "/home/u/w/.git/hooks/post-commit"}, "protected_names", `filesystem.write: [".git/hooks"]`, "/home/u/w/.git/hooks"},
		{"on the way in git", ww, wrap.Act{wrap.ToMake, "/home/u/w/.git/modules"}, "protected_names", `filesystem.write: [".git"]`, "/home/u/w/.git"},
		{"a link in git", ww, wrap.Act{wrap.ToLink, "/home/u/w/.git/link"}, "protected_names", `filesystem.write: [".git"]`, "/home/u/w/.git"},
		{"a protected name", ww, wrap.Act{wrap.ToMake, "/home/u/w/.mcp.json"}, "protected_names", `filesystem.write: [".mcp.json"]`, ""},
		{"a worktree of git's", ww, wrap.Act{wrap.ToMake, "/home/u/w/.git/worktrees"}, "protected_names", `filesystem.write: [".git"]`, "/home/u/w/.git"},
		{"what leads git elsewhere", ww, wrap.Act{wrap.ToMake, "/home/u/w/.git/commondir"}, "protected_names", `filesystem.write: [".git/commondir"]`, ""},
		{"an agent's directory", ww, wrap.Act{wrap.ToMake, "/home/u/w/.claude/hooks"}, "protected_names", `filesystem.write: [".claude/hooks"]`, ""},
		{"a name with a space", ww, wrap.Act{wrap.ToMake, "/home/u/w/a b/.git"}, "protected_names", `filesystem.write: ["a b/.git"]`, ""},
		{"a name that is no home", ww, wrap.Act{wrap.ToMake, "/home/u/w/~/.git"}, "protected_names", `filesystem.write: ["./~/.git"]`, ""},
		{"a name that is no set", ww, wrap.Act{wrap.ToMake, "/home/u/w/@system/.git"}, "protected_names", `filesystem.write: ["./@system/.git"]`, ""},
		{"a name that is a glob", ww, wrap.Act{wrap.ToMake, "/home/u/w/a*/.git"}, "protected_names", "", ""},
		{"a name that is no text", ww, wrap.Act{wrap.ToMake, "/home/u/w/\xff/.git"}, "protected_names", "", ""},
		{"credentials beside a list", `{"access_mode":"workspace-write","filesystem":{"write":["out","~"]}}`, wrap.Act{wrap.ToRead, "/home/u/.docker/config.json"}, "secrets", `filesystem.read: ["/", "/home/u/.docker/config.json"]`, ""},
		{"a secret beside a list", `{"access_mode":"workspace-write","filesystem":{"read":["/"],"write":["~"]}}`, wrap.Act{wrap.ToRead, "/home/u/.ssh/known_hosts"}, "secrets", `filesystem.read: ["/", "/home/u/.ssh/known_hosts"]`, ""},
		{"what the workspace lets be written", ww, wrap.Act{wrap.ToWrite, "/home/u/w/main.go"}, "", "", ""},
		{"a read-only workspace", ro, wrap.Act{wrap.ToWrite, "/home/u/w/main.go"}, "access_mode: read-only", "access_mode: workspace-write", "/home/u/w"},
		{"readonly", `{"access_mode":"workspace-write","readonly":true}`, wrap.Act{wrap.ToMake, "/home/u/w/new"}, "readonly: true", "readonly: false", "/home/u/w"},
		{"beside readonly", `{"access_mode":"workspace-write","readonly":true}`, wrap.Act{wrap.ToMake, "/srv/data/new"}, "readonly: true", "", ""},
		{"a workshop", `{"sandbox":{"root":"/home/u/w","readonly":true}}`, wrap.Act{wrap.ToMake, "/home/u/w/new"}, "sandbox.readonly: true", "sandbox.readonly: false", "/home/u/w"},
		{"no mode", `{"filesystem":{"write":["out"]}}`, wrap.Act{wrap.ToWrite, "/home/u/w/main.go"}, "filesystem.write", `filesystem.write: ["out", "main.go"]`, ""},
		{"no protected names", `{"filesystem":{"write":["."]}}`, wrap.Act{wrap.ToLink, "/home/u/w/.git/link"}, "", "", ""},
		{"hidden by the document", `{"access_mode":"workspace-write","filesystem":{"hide":["out","/srv/data"]}}`, wrap.Act{wrap.ToMake, "/srv/data/new"}, "filesystem.hide[1]", "", ""},
		{"a mount", mounts, wrap.Act{wrap.ToWrite, "/data/set.csv"}, "filesystem.mounts[0]: mode ro", "filesystem.mounts[0].mode: rw", "/data"},
		{"a mount that can be written", mounts, wrap.Act{wrap.ToWrite, "/home/u/w/out/util.go"}, "", "", ""},
		{"a program out of view", system, wrap.Act{wrap.ToRead, "/srv/data/set.csv"}, "filesystem.read", `filesystem.read: ["@system", "/srv/data/set.csv"]`, ""},
		{"a program of the system", `{"filesystem":{"read":["/usr/bin","."]}}`, wrap.Act{wrap.ToRead, "/usr/lib/libc.so"}, "filesystem.read", `filesystem.read: ["@system", "/usr/bin", "."]`, ""},
		{"a new file out of view", system, wrap.Act{wrap.ToMake, "/srv/data/new"}, "filesystem.read", `filesystem.write: ["/srv/data"]`, "/srv/data"},
		{"a file that is there, out of view", system, wrap.Act{wrap.ToMake, "/srv/data/set.csv"}, "filesystem.read", `filesystem.write: ["/srv/data/set.csv"]`, ""},
		{"a file in view", system, wrap.Act{wrap.ToWrite, "/usr/lib/libc.so"}, "filesystem.read", `filesystem.write: ["/usr/lib/libc.so"]`, ""},
		{"a secret directory", home, wrap.Act{wrap.ToRead, "/home/u/.ssh"}, "secrets", `filesystem.read: ["/", "/home/u/.ssh"]`, ""},
		{"a file in one", home, wrap.Act{wrap.ToWrite, "/home/u/.ssh/known_hosts"}, "secrets", `filesystem.write: ["~", "/home/u/.ssh/known_hosts"]`, ""},
		{"a removable medium", ww, wrap.Act{wrap.ToRead, "/media/stick"}, "secrets", `filesystem.write: ["/media/stick"]`, ""},
		{"a socket", ww, wrap.Act{wrap.ToConnect, "/srv/sock"}, "network", `filesystem.write: ["/srv/sock"]`, ""},
		{"no name for a document", ww, wrap.Act{wrap.ToWrite, "/srv/data/a*"}, "access_mode: workspace-write", `filesystem.write: ["/srv/data"]`, "/srv/data"},
	} {
		const facts = "socket /srv/sock\nfile /media/stick/key\nremovable /media/stick\nfile /srv/data/a*"
		_, a := explained(t, c.doc, facts)
		if got := a.Plan.Explain(a.Resolved, c.act).Rule; got != c.rule {
			t.Errorf("%s: %q denies it, not %q", c.what, got, c.rule)
		}
		if got := a.Advise(c.act); got != (wrap.Advice{c.allow, c.opens}) {
			t.Errorf("%s: %+v, want %s, opening %q", c.what, got, c.allow, c.opens)
		}
		if c.allow == "" {
			continue
		}
		w, a := explained(t, followed(t, c.doc, c.allow), facts)
		if c.act.Kind == wrap.ToMake && w.Nodes[c.act.Path].Kind != wrap.Absent {
			c.act.Kind = wrap.ToWrite
		}
		if !a.Plan.Allows(c.act) {
			t.Errorf("%s: %s does not allow it", c.what, c.allow)
		}
	}
}

// If the file exists before the start, the advice names only that file.
func TestAdviceAlone(t *testing.T) {
	_, a := explained(t, `{"access_mode":"workspace-write"}`, "")
	for path, want := range map[string]string{"/home/u/lib/new": `filesystem.write: ["/home/u/lib/new"]`, "/proc/new": ""} {
		if got := a.OnlyPath(wrap.Act{wrap.ToMake, path}); got != want {
			t.Errorf("%s: %s, not %s", path, got, want)
		}
	}
}

// If an outer sandbox decides on the files, the line is the one that the document lacks.
func TestExplainInside(t *testing.T) {
	w, a := explained(t, `{"access_mode":"workspace-write"}`, "")
	w.Host.Rungs[wrap.RungUser], w.Host.Rungs[wrap.RungRoot] = wrap.Answer{State: wrap.No}, wrap.Answer{State: wrap.No}
	act := wrap.Act{wrap.ToTake, "/home/u/lib/util.go"}
	a.Plan = &wrap.Plan{}
	if got := a.Plan.Explain(a.Resolved, act).Rule; got != "access_mode: workspace-write" {
		t.Error(got)
	}
	if got := a.Advise(act); got.Line != `filesystem.write: ["/home/u/lib"]` {
		t.Error(got)
	}
}

func BenchmarkAdvice(b *testing.B) {
	_, a := explained(b, `{"access_mode":"workspace-write"}`, "")
	for b.Loop() {
		a.Forget()
		if a.Advise(wrap.Act{wrap.ToMake, "/home/u/lib/new"}).Line == "" {
			b.Fatal("none")
		}
	}
}
