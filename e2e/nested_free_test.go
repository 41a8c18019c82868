package e2e

import (
	"strings"
	"testing"
)

// An outer sandbox that constrains no files, and so mounts nothing, is a parent like any other: its
// requests hold inside, more is an escalation, and an sbx inside makes a sandbox of its own.
func TestNestedInOneWithoutMounts(t *testing.T) {
	if counter == "ptrace" {
		t.Skip("a tracer gives nobody a descriptor: an sbx inside asks a listener")
	}
	for name, c := range map[string]struct{ outer, wider, fits, field string }{
		"budget":   {`{"max_commands": 30}`, `{"max_commands": 31}`, `{"max_commands": 30}`, "max_commands"},
		"exceeded": {`{"max_commands": 30, "on_exceed": "kill"}`, `{"max_commands": 9, "on_exceed": "record"}`, `{"max_commands": 9}`, "on_exceed"},
		"limit":    {`{"limits": {"open_files": 90}}`, `{"limits": {"open_files": 91}}`, `{"limits": {"open_files": 80}}`, "limits.open_files"},
		"time":     {`{"limits": {"timeout": "50s"}}`, `{"limits": {"timeout": "51s"}}`, `{"limits": {"timeout": "40s"}}`, "limits.timeout"},
		"variable": {`{"environment": {"pass": ["PATH", "HOME"]}}`, `{"environment": {"set": {"KEPT": "x"}}}`, `{"environment": {"set": {"HOME": "/"}}}`, "environment.set"},
		"tool":     {`{"tools_allowed": ["Read"], "best_effort": ["tools_allowed"]}`, `{"tools_allowed": ["Bash"]}`, `{}`, "tools_allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNest(t)
			r, rec := n.run(c.outer, c.wider, "echo end")
			r.refused(c.field)
			if !strings.Contains(r.err, "the parent") || rec.text("state") != "refused" {
				t.Errorf("%v", r)
			}
			r, _ = n.run(c.outer, c.fits, "echo end")
			r.ended()
			if name == "tool" {
				return // requested of the outer command's agent; here there is none
			}
			r, _ = n.run(`{}`, c.wider, "echo end") // the control
			r.ended()
		})
	}
	t.Run("a sandbox of its own", func(t *testing.T) {
		n := newNest(t)
		r, rec := n.run(`{"max_commands": 30}`, `{"access_mode": "workspace-write"}`, "echo x >"+n.out+"/f; echo end")
		r.ended()
		n.absent("out/f")
		rec.hasStatus(t, "access_mode", "enforced")
		if rec.by("access_mode") == "parent" || rec.by("max_commands") != "outer supervisor" {
			t.Errorf("%v", rec["enforcement"])
		}
		r, _ = n.run(`{"max_commands": 30}`, `{}`, "echo x >"+n.out+"/f; echo end") // the control
		r.ended()
		n.holds("out/f", "x\n")
	})
}
