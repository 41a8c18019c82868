package e2e

import "testing"

// The requests of a document that cannot be read are unknown: the record has neither the document
// nor a digest, only its name.
func TestUnreadDocumentIsNotRequested(t *testing.T) {
	b := newBox(t)
	for _, spec := range []string{`{"access_mode": 1}`, `{"access_mode"`, `{"acess_mode": "read-only"}`} {
		r := b.run(spec, "true").refused("--spec-json:1:")
		if r.rec["requested"] != nil || r.rec["requested_digest"] != nil || r.rec.text("state") != "refused" || r.rec["error"] == nil {
			t.Errorf("%s: %v", spec, r.rec)
		}
	}
	b.args = []string{"--spec", b.base + "/none.json"}
	if r := b.run("", "true").refused("none.json"); r.rec["requested"] != nil {
		t.Errorf("no file: %v", r.rec)
	}
	b.args = nil
	if r := b.run(`{"network": {"listen": [1]}}`, "true").refused("listen"); r.rec["requested"] == nil || r.rec.text("requested_digest") != digest(t, `{"network": {"listen": [1]}}`) {
		t.Errorf("control: %v", r.rec)
	}
}
