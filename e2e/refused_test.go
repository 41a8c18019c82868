package e2e

import "testing"

// A refused record does not tell what the rung that failed would have held.
func TestLadderRefusedRecordClaimsNothing(t *testing.T) {
	b := newBox(t)
	r := b.on(refusing(t, "mount"), modeOnly, "/bin/true").refused("access_mode")
	if r.rec["access_mode"] != nil || r.rec.status("access_mode") == "enforced" {
		t.Errorf("%v", r)
	}
}
