package e2e

import (
	"strings"
	"testing"
)

// In a default run everything is enforced except protected names that do not exist at launch: a
// program that races with the supervisor can get past it, as the line says. If opens that create
// one are not denied, the status is weaker.
func TestDefaultRunIsEnforcedOrGuarded(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	for flags, want := range map[string]string{"": "guarded", "--violations=names": "degraded", "--violations=off": "degraded"} {
		b.args = strings.Fields(flags)
		r := b.sh(specWW, "mkdir .git; echo x >.envrc").ended()
		for _, l := range r.rec.list("enforcement") {
			status := "enforced"
			if l.text("field") == "new_protected_names" {
				status = want
			}
			if l.text("status") != status || status != "enforced" && l.text("reason") == "" {
				t.Errorf("%s: %v, want %s", flags, l, status)
			}
		}
		if r.rec.status("new_protected_names") == "" {
			t.Errorf("%s: no line", flags)
		}
		show := b.show(b.rec)
		all, less := strings.Contains(show.out, "  enforced  all that was requested\n"), strings.Contains(show.out, "  enforced  all but new_protected_names\n")
		if all != (want == "guarded") || less == all {
			t.Errorf("%s: %s", flags, show.out)
		}
		b.absent(b.ws + "/.git")
		b.absent(b.ws + "/.envrc")
	}
	// A read-only run has none.
	b.args = nil
	if r := b.sh(specRO, "true").ended(); r.rec.status("new_protected_names") != "" {
		t.Errorf("control: %v", r.rec.list("enforcement"))
	}
}
