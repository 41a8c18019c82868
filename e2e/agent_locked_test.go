package e2e

import "testing"

// A command can neither change nor create files from which an agent on the host takes programs and
// variables. It can change the rest of the agent's state.
func TestAgentLockedNames(t *testing.T) {
	for agent, its := range map[string]struct{ absent, there []string }{
		"codex": {
			[]string{".env", "environments.toml", "AGENTS.override.md", ".tmp", "agents", "plugins", "packages", "hooks.json"},
			[]string{".env", "environments.toml", "AGENTS.override.md", "work.config.toml", ".tmp/plugins/p/hooks.json", "agents/a.toml", "plugins/cache/p/hooks.json", "packages/standalone/codex"},
		},
		"gemini": {
			[]string{".env", "agents", "bin", "trusted_hooks.json", "acknowledgments", "mcp-server-enablement.json",
				"antigravity", "config", "history/q/git"},
			[]string{".env", "agents/a.md", "bin/litert/run", "trusted_hooks.json", "acknowledgments/agents.json", "mcp-server-enablement.json",
				"antigravity/mcp_config.json", "config/mcp_config.json", "history/p/git/config"},
		},
	} {
		t.Run(agent, func(t *testing.T) {
			eachPlace(t, func(t *testing.T, b *box) {
				needSandbox(t)
				state := b.home + "/." + agent + "/"
				b.write(state+"log", "log\n")
				b.write(state+"history/q/log", "log\n")
				attempts := []string{"append|" + state + "log"}
				for _, n := range its.absent {
					attempts = append(attempts, "create|"+state+n)
				}
				got := b.agentTries(agent, specWW, attempts...)
				for i, a := range attempts {
					if want := []string{"ok", "EPERM"}[min(i, 1)]; got[a] != want {
						t.Errorf("%s: %s, want %s", a, got[a], want)
					}
				}
				for _, n := range its.absent {
					b.absent(state + n)
				}
				attempts = nil
				for _, n := range its.there {
					b.write(state+n, "host\n")
					attempts = append(attempts, "write|"+state+n)
				}
				got = b.agentTries(agent, specWW, attempts...)
				for i, n := range its.there {
					if got[attempts[i]] != "EROFS" {
						t.Errorf("%s: %s, want EROFS", attempts[i], got[attempts[i]])
					}
					b.holds(state+n, "host\n")
				}
				for a, answer := range b.control(attempts...) {
					if answer != "ok" {
						t.Errorf("control: %s: %s", a, answer)
					}
				}
			})
		})
	}
}

// Directories in which an agent's sessions on the host find programs and scripts to run are private
// in each sandbox, or copies.
func TestAgentPrivateState(t *testing.T) {
	for agent, dirs := range map[string][]string{"codex": {"tmp", "shell_snapshots"}, "claude": {"shell-snapshots", "session-env"}} {
		for _, spec := range []string{specWW, `{"access_mode": "read-only", "filesystem": {"read": ["@system", "."]}}`} {
			t.Run(agent, func(t *testing.T) {
				eachPlace(t, func(t *testing.T, b *box) {
					needSandbox(t)
					state := b.home + "/." + agent + "/"
					var attempts []string
					for _, f := range dirs {
						b.write(state+f+"/host.sh", "host\n")
						b.write(state+f+"/r/.git/config", "") // the protected path does not exist on the host
						attempts = append(attempts, "create|"+state+f+"/new", "rename|"+state+f+"|"+state+f+"2")
					}
					before := b.snapshot(b.home)
					r := b.agent(agent, spec, "cd "+state+`
for f in `+dirs[0]+" "+dirs[1]+`; do
	echo x >>$f/host.sh; echo x >$f/new.sh && mkdir $f/d && mv $f/new.sh $f/d/ && cat $f/d/new.sh; mv $f $f.2
done`).ended()
					if r.out != "x\nx\nend\n" {
						t.Errorf("%v", r)
					}
					if names := differ(before, b.snapshot(b.home)); len(names) > 0 {
						t.Errorf("the host's home was changed: %q", names)
					}
					for a, answer := range b.control(attempts...) {
						if answer != "ok" {
							t.Errorf("control: %s: %s", a, answer)
						}
					}
				})
			})
		}
	}
	needSandbox(t)
	b := newBox(t) // a path that a document names is the host's
	b.write(b.home+"/.codex/tmp/log", "")
	b.agent("codex", `{"access_mode": "workspace-write", "filesystem": {"write": ["~/.codex/tmp"]}}`, "echo x >~/.codex/tmp/log").ended()
	b.holds(b.home+"/.codex/tmp/log", "x\n")
}
