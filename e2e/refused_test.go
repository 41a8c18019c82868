package e2e

import "testing"

// The record of a refusal does not claim what the failed fallback level would have enforced.
func TestLadderRefusedRecordClaimsNothing(t *testing.T) {
	b := newBox(t)
	r := b.on(refusing(t, "mount"), modeOnly, "/bin/true").refused("access_mode")
	if r.rec["access_mode"] != nil || r.rec.status("access_mode") == "enforced" {
		t.Errorf("%v", r)
	}
}
