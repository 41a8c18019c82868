package e2e

import "testing"

// Asking for more than the outer sandbox has is an escalation: 125, both values
// named.
func TestNestedWiderIsAnEscalation(t *testing.T) {
	ww := `{"access_mode": "workspace-write"}`
	for name, c := range map[string][3]string{
		"mode":    {`{"access_mode": "workspace-write", "readonly": true, "filesystem": {"read": ["@system", "."]}}`, ww, "access_mode"},
		"danger":  {ww, `{"access_mode": "danger-full-access"}`, "access_mode"},
		"network": {ww, `{"access_mode": "workspace-write", "network": {"mode": "host"}}`, "network"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := newNest(t).run(c[0], c[1], "echo end")
			r.refused(c[2])
		})
	}
}

// What the outer sandbox shows is not hidden by it.
func TestNestedSecretsThatTheParentOpened(t *testing.T) {
	n := newNest(t)
	n.write("home/.ssh/id", "KEY")
	r, rec := n.run(`{"access_mode": "workspace-write", "filesystem": {"read": ["@system", "~/.ssh"]}}`, `{"access_mode": "workspace-write", "best_effort": ["*"]}`, "cat ~/.ssh/id; echo end")
	if rec.status("secrets") == "enforced" {
		t.Errorf("secrets are told as enforced: %v", r)
	}
}

func TestNestedProtectedNamesThatTheParentOpened(t *testing.T) {
	_, rec := newNest(t).run(`{"access_mode": "workspace-write", "filesystem": {"write": [".git"]}}`, `{"access_mode": "workspace-write"}`, "echo end")
	if rec.status("protected_names") == "enforced" {
		t.Error("protected_names is told as enforced; the outer line itself is degraded, and .git is open")
	}
}
