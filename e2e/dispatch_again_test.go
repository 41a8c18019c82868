package e2e

import (
	"os"
	"strings"
	"testing"
)

// A ledger that is found in a project may be made by a command, triggers included: a retried
// dispatch runs under the contract with which it was sent, or not at all.
func TestDispatchAgainKeepsContract(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.intercore(39)
	for _, column := range []string{"retry_count INTEGER NOT NULL DEFAULT 0", "parent_dispatch_id TEXT NOT NULL DEFAULT ''"} {
		b.sql("ALTER TABLE dispatches ADD COLUMN " + column)
	}
	id := func(r result) string {
		t.Helper()
		words := strings.Fields(r.out)
		if r.code != 0 || len(words) == 0 {
			t.Fatalf("%v", r)
		}
		return words[0]
	}
	const readOnly = `{"access_mode": "read-only"}`
	mark := b.home + "/mark"
	spawn := func() string {
		t.Helper()
		s := id(b.dispatch("spawn", "--sandbox-spec="+readOnly, "--", "sh", "-c", "touch "+mark+"; exit 3"))
		if r := b.dispatch("wait", s); r.code != 1 {
			t.Fatalf("%v", r)
		}
		return s
	}
	kept := id(b.dispatch("retry", spawn(), "--start")) // the control
	if r := b.dispatch("wait", kept); r.code != 1 || b.row(kept).effective().text("access_mode") != "read-only" {
		t.Errorf("%v", r)
	}
	for _, planted := range []string{"NULL", `'{"access_mode": "danger-full-access"}'`} {
		b.sql("CREATE TRIGGER planted AFTER INSERT ON dispatches BEGIN UPDATE dispatches SET sandbox_spec = " + planted + ", sandbox = 'danger-full-access' WHERE id = NEW.id; END")
		r := b.dispatch("retry", spawn(), "--start")
		if r.code != 125 || !strings.Contains(r.err, "another than the one that it ran under") {
			t.Errorf("%s: %v", planted, r)
			b.dispatch("wait", id(r)) // may have been started all the same
		}
		b.sql("DROP TRIGGER planted")
	}
	b.absent(mark)
	if r := b.plain("touch", mark); r.code != 0 {
		t.Errorf("control: %v", r)
	}
	must(t, os.Remove(mark))
}
