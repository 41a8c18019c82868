package e2e

import "testing"

// Hosts that are not let through yet are no network at all, where the documents let
// that be, and the record says so however the mode is written. No set of hosts is
// known.
func TestNetworkAllowIsNone(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	const links = "grep -c : /proc/net/dev; echo end"
	alone := b.run(`{"network": {"mode": "none"}}`, "/bin/sh", "-c", links).ended()
	if host := b.plain("/bin/sh", "-c", links).ended(); host.out == alone.out {
		t.Skip("the host has no network either")
	}
	for _, network := range []string{`{"allow": ["example.com:443"]}`, `{"mode": "allow", "allow": ["example.com:443"]}`, `{"mode": "allow"}`} {
		r := b.run(`{"network": `+network+`, "best_effort": ["*"]}`, "/bin/sh", "-c", links).ended()
		if r.out != alone.out || r.rec.status("network") != "degraded" {
			t.Errorf("%s: %v", network, r)
		}
		b.run(`{"network": `+network+`}`, "/bin/sh", "-c", links).refused("best_effort")
		if network != `{"mode": "allow"}` && r.rec.status("network.allow") != "unavailable" {
			t.Errorf("%s: %v", network, r)
		}
	}
	for _, network := range []string{`{"allow": ["@nonsense"]}`, `{"mode": "allow", "allow": ["@nonsense"]}`} {
		b.run(`{"network": `+network+`, "best_effort": ["*"]}`, "/bin/sh", "-c", links).refused("unknown set of hosts")
	}
}
