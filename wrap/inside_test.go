package wrap_test

import (
	"slices"
	"strings"
	"testing"

	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/world"
)

// insideWorld is the machine of TestInside.
const insideWorld = meaningWorld + `
dir /run
dir /usr/share
file /usr/bin/sh
file /usr/bin/cat
dir /home/u/sub
dir /home/u/w/sub
file /home/u/w/.git/config
`

// inside resolves and plans a document in a sandbox of another one.
func inside(t *testing.T, outer, inner string, facts ...string) (*wrap.Plan, error) {
	t.Helper()
	w := world.New(t, insideWorld)
	_, plan, err := w.Build(outer)
	if err != nil {
		t.Fatalf("%s: %v", outer, err)
	}
	w.Inside(plan)
	for _, fact := range facts {
		w.Line(fact)
	}
	_, plan, err = w.Build(inner)
	return plan, err
}

// TestInside holds a document to what it means in a sandbox of another one: which of its
// fields the outer sandbox holds, and which are refused. That the kernel does it is for
// e2e's tests.
func TestInside(t *testing.T) {
	const ww, ro = `{"access_mode":"workspace-write"}`, `{"access_mode":"read-only"}`
	with := func(members string) string { return `{"access_mode":"workspace-write",` + members + `}` }
	vars := with(`"environment":{"pass":["PATH","HOME","A*"],"set":{"SET":"outer"}}`)
	for _, c := range []struct {
		outer, inner string
		// want is "FIELD STATUS BY", or "!FIELD: REASON" of a refusal.
		want string
	}{
		// More than the outer sandbox has is an escalation.
		{with(`"readonly":true,"filesystem":{"read":["@system","."]}`), ww, "!access_mode: the parent"},
		{ww, `{"access_mode":"danger-full-access"}`, "!access_mode: the parent"},
		{ww, with(`"network":{"mode":"host"}`), "!network.mode: the parent"},
		{with(`"max_commands":9`), `{"max_commands":10}`, "!max_commands: the parent"},
		{with(`"limits":{"open_files":90}`), `{"limits":{"open_files":91}}`, "!limits.open_files: the parent"},
		{ww, `{"filesystem":{"write":["/usr"]}}`, "!filesystem.write[0]: the parent"},
		{`{"filesystem":{"read":["@system","/srv/out/a"]}}`, `{"filesystem":{"read":["@system","/srv/out"]}}`, "!filesystem.read[1]: the parent"},
		{ww, `{"filesystem":{"read":["~/.ssh"]}}`, "!filesystem.read[0]: the parent"},
		{ww, `{"filesystem":{"write":["**/.git"]}}`, "!filesystem.write[0]: the parent"},
		{with(`"tools_allowed":["Read"],"best_effort":["tools_allowed"]`), `{"tools_allowed":["Bash"]}`, "!tools_allowed[0]: the parent"},
		{with(`"commands":{"deny":["git"]}`), `{"commands":{"allow":["git"]}}`, "!commands.allow[0]: the parent"},
		{vars, `{"environment":{"set":{"KEPT":"x"}}}`, "!environment.set: the parent"},

		// Less cannot be held there.
		{ww, ro, "!access_mode: is writable too"},
		{with(`"network":{"mode":"host"}`), ww, "!network: the outer sandbox has host"},
		{ww, with(`"filesystem":{"read":["@system"]}`), "!filesystem.read: shows the whole host"},
		{ww, with(`"filesystem":{"hide":["sub"]}`), "!filesystem.hide: shows"},
		{ww, with(`"filesystem":{"mounts":[{"label":"l","source":"sub","target":"/opt","mode":"ro"}]}`), "!filesystem.mounts: nothing can be mounted"},
		{with(`"filesystem":{"write":["~/sub"]}`), ww, "!access_mode: u/sub is writable too"},
		{ww, `{"filesystem":{"write":["sub"]}}`, "!access_mode: inside another sandbox"},

		// Limits.
		{with(`"limits":{"pids":30}`), with(`"limits":{"pids":30,"open_files":50,"timeout":"5s"}`), "limits.pids enforced parent"},
		{with(`"limits":{"pids":30}`), with(`"limits":{"pids":30,"open_files":50,"timeout":"5s"}`), "limits.open_files enforced RLIMIT_NOFILE"},
		{with(`"limits":{"pids":30}`), with(`"limits":{"pids":20}`), "!limits.pids: the outer sandbox"},
		{with(`"limits":{"pids":30}`), with(`"limits":{"memory":"1GiB"}`), "!limits.memory: the outer sandbox"},
		{with(`"limits":{"pids":30}`), with(`"limits":{"cpus":1}`), "!limits.cpus: the outer sandbox"},

		// The network.
		{with(`"network":{"allow":["good.example:80","*.wild.example:443"]}`), with(`"network":{"allow":["*.wild.example:443","good.example:80"]},"best_effort":["network"]`), "network enforced parent"},
		{with(`"network":{"allow":["good.example:80","*.wild.example:443"]}`), with(`"network":{"allow":["good.example:80"]},"best_effort":["network"]`), "network enforced outer supervisor, seccomp, landlock"},
		{with(`"network":{"allow":["good.example:80","*.wild.example:443"]}`), with(`"network":{"allow":["good.example:80","bad.example:80"]},"best_effort":["network"]`), "!network.allow[1]: cannot have bad.example:80"},
		{with(`"network":{"listen":[8080]}`), with(`"network":{"listen":[8080]},"best_effort":["network.listen"]`), "network.listen enforced parent"},
		{with(`"network":{"listen":[8080]}`), with(`"network":{"listen":["8080:3000"]},"best_effort":["network.listen"]`), "!network.listen[0]: the parent"},
		{with(`"network":{"listen":[8080]}`), with(`"network":{"listen":[8081]},"best_effort":["network.listen"]`), "!network.listen[0]: the parent"},
		{with(`"network":{"listen":[8080]}`), with(`"network":{"listen":[]},"best_effort":["network.listen"]`), "network.listen unavailable"},

		// Programs.
		{ww, with(`"commands":{"allow":["sh"]}`), "!commands.allow: inside another sandbox"},
		{ww, `{"best_effort":["commands.deny"],"access_mode":"workspace-write","commands":{"deny":["cat"]}}`, "commands.deny unavailable"},

		// What is asked of an outer agent is the outer sandbox's to watch.
		{with(`"tools_allowed":["Bash"],"max_turns":3,"best_effort":["tools_allowed","max_turns"]`), `{}`, "tools_allowed enforced parent"},
		{with(`"tools_allowed":["Bash"],"max_turns":3,"best_effort":["tools_allowed","max_turns"]`), `{}`, "max_turns enforced parent"},
	} {
		plan, err := inside(t, c.outer, c.inner)
		field, _, _ := strings.Cut(strings.TrimPrefix(c.want, "!"), " ")
		got := "nothing"
		if err != nil {
			got = err.Error()
			for _, p := range spec.AsProblems(err) {
				if _, why, _ := strings.Cut(c.want, ": "); string(p.Field)+":" == field && strings.Contains(p.Error(), why) {
					got = c.want
				}
			}
		} else if i := slices.IndexFunc(plan.Enforcement, func(e wrap.Enforcement) bool { return string(e.Field) == field }); i >= 0 {
			got = strings.TrimSpace(field + " " + plan.Enforcement[i].Status.String() + " " + plan.Enforcement[i].By)
		}
		if got != c.want {
			t.Errorf("%s under %s: %s, want %s", c.inner, c.outer, got, c.want)
		}
	}
}

// A document that asks for nothing is what its parent is, in every directory: it starts where
// its caller stands, and what may be written there stays the parent's.
func TestInsideInherits(t *testing.T) {
	const ww, ro = `{"access_mode":"workspace-write"}`, `{"access_mode":"read-only"}`
	const ws, reads = "/home/u/w", `{"filesystem":{"read":["@system","/home/u/w"]}}`
	for _, c := range []struct{ outer, inner, cwd, want string }{
		{ww, ``, ws, "here there " + ws},
		{ww, ``, ws + "/sub", "here there " + ws + "/sub"},
		{ww, `{"max_commands":9}`, ws + "/sub", "here there " + ws + "/sub"},
		{ww, ``, "/usr", "there /usr"},
		{ro, ``, ws, ws},
		{ro, ``, ws + "/sub", ws + "/sub"},
		{ro, ``, "/", "/"},
		{reads, ``, ws + "/sub", ws + "/sub"},
		// Where the directory is not in view it starts in /: to stand there asks for nothing.
		{`{"filesystem":{"read":["@system","sub"]}}`, `{}`, "/", "/"},
		{`{"filesystem":{"read":["@system","sub"]}}`, `{"filesystem":{"read":["@system","/home/u/w/sub"]}}`, "/", "/"},
		{`{"filesystem":{"read":["@system","sub"]}}`, `{"filesystem":{"read":["@system","/home/u/w/sub"]},"working_dir":"/usr"}`, "/", "/usr"},
	} {
		plan, err := inside(t, c.outer, c.inner, "cwd "+c.cwd)
		if err != nil {
			t.Errorf("%s in %s under %s: %v", c.inner, c.cwd, c.outer, err)
			continue
		}
		got := plan.Command.Dir
		for _, at := range []struct{ name, path string }{{"there", ws + "/there"}, {"here", c.cwd + "/here"}} {
			if g := plan.Outer.At(at.path); g.Access == view.Write && g.Source == at.path {
				got = at.name + " " + got
			}
		}
		if got != c.want {
			t.Errorf("%s in %s under %s: %s, want %s", c.inner, c.cwd, c.outer, got, c.want)
		}
	}
}

// What the outer sandbox keeps from its command a nested one has not either; what it passes
// or sets may have another value.
func TestInsideVariables(t *testing.T) {
	const outer = `{"access_mode":"workspace-write","environment":{"pass":["PATH","HOME","A*"],"set":{"SET":"outer"}}}`
	for inner, want := range map[string]string{
		``:   "AS=inside SET=inside",
		`{}`: "AS=inside SET=inside",
		`{"environment":{"set":{"AS":"asked","AGAIN":"asked"}}}`: "AS=asked SET=inside AGAIN=asked",
		`{"environment":{"pass":["PATH","SET"]}}`:                "SET=inside",
	} {
		plan, err := inside(t, outer, inner, "env AS=inside", "env KEPT=inside", "env SET=inside")
		if err != nil {
			t.Errorf("%s: %v", inner, err)
			continue
		}
		got := strings.Join(slices.DeleteFunc(plan.Env, func(v string) bool { return !strings.Contains(v, "inside") && !strings.Contains(v, "asked") }), " ")
		if got != want {
			t.Errorf("%s: %s, want %s", inner, got, want)
		}
	}
}
