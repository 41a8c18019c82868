package e2e

import "testing"

// What an agent on the host takes programs and variables from is neither changed
// nor made by a command; the rest of its state is.
func TestAgentLockedNames(t *testing.T) {
	for agent, its := range map[string]struct{ absent, there []string }{
		"codex": {
			[]string{".env", "environments.toml", "AGENTS.override.md", "agents", "plugins", "packages", "hooks.json"},
			[]string{".env", "environments.toml", "AGENTS.override.md", "work.config.toml", "agents/a.toml", "plugins/cache/p/hooks.json", "packages/standalone/codex"},
		},
		"gemini": {
			[]string{".env", "agents", "bin", "trusted_hooks.json", "acknowledgments", "mcp-server-enablement.json"},
			[]string{".env", "agents/a.md", "bin/litert/run", "trusted_hooks.json", "acknowledgments/agents.json", "mcp-server-enablement.json"},
		},
	} {
		t.Run(agent, func(t *testing.T) {
			eachPlace(t, func(t *testing.T, b *box) {
				needSandbox(t)
				state := b.home + "/." + agent + "/"
				b.write(state+"log", "log\n")
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
