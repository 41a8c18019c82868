package e2e

import (
	"strings"
	"testing"
)

// A command can use up its user's inotify limits before the watch begins. Files that the host
// replaces are still mounted again, and planted names are moved away while the command runs; sbx
// warns that this may be delayed.
func TestNothingCanBeWatched(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "git")
	for _, what := range []string{"inotify", "nothing"} {
		eachPlace(t, func(t *testing.T, b *box) {
			b.repository(b.ws)
			b.args, b.host = []string{"--violations", "off"}, refusing(t, what)
			k := b.talk(specWW)
			write := "echo x >>.git/config"
			if got := k.ask(write); !strings.Contains(got, readOnly) {
				t.Fatalf("at the start: %q", got)
			}
			for _, n := range []string{"11", "12"} {
				b.git(b.ws, "config", "core.abbrev", n)
				k.becomes(write, readOnly)
			}
			for range 2 {
				if got := k.ask("mkdir -p sub; echo evil >.envrc && echo evil >sub/.git && echo made"); got != "made" {
					t.Fatalf("the control, planted: %q", got)
				}
				k.becomes("test -e .envrc || test -e sub/.git || echo gone", "gone")
			}
			k.ends()
			rec, _ := readRecord(b.rec)
			rec.hasStatus(t, "protected_names", "degraded")
			if why := rec.reason("protected_names"); strings.Contains(why, "looked for twice a second") != (what == "inotify") {
				t.Errorf("%s: the line says %q", what, why)
			}
			if p := b.protected(b.ws + "/.git/config"); p.whole("unprotected_ms") <= 0 || p["unprotected_at_end"] != nil {
				t.Errorf("%s: %v", what, p)
			}
		})
	}
}
