package e2e

import (
	"strings"
	"testing"
)

// The limit of a portfolio of Intercore's applies to a spawn of sbx, too, and the budget of a run
// is reported; neither table is written.
func TestDispatchRuns(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.intercore(39)
	b.sql("CREATE TABLE runs (id TEXT PRIMARY KEY, parent_run_id TEXT, max_dispatches INTEGER DEFAULT 0, token_budget INTEGER, budget_warn_pct INTEGER DEFAULT 80)")
	b.sql("CREATE TABLE state (key TEXT, scope_id TEXT, payload TEXT, expires_at INTEGER, PRIMARY KEY (key, scope_id))")
	b.sql("INSERT INTO runs VALUES ('whole', NULL, 2, NULL, 80), ('part', 'whole', 0, 100, 80)")
	spawn := func(scope string) result { return b.dispatch("spawn", "--scope-id", scope, "--", "true") }
	r := spawn("part")
	if r.code != 0 || !strings.Contains(r.err, "nobody has counted them") {
		t.Errorf("uncounted: %v", r)
	}
	id := strings.TrimSpace(r.out)
	b.sql(`INSERT INTO state VALUES ('active-dispatch-count', 'whole', '"2"', NULL)`)
	if r := spawn("part"); r.code != 125 || !strings.Contains(r.err, "it has 2 of the 2") || r.out != "" {
		t.Errorf("full: %v", r)
	}
	if r := spawn("whole"); r.code != 0 || r.err != "" {
		t.Errorf("the portfolio itself: %v", r)
	}
	b.sql(`UPDATE state SET payload = '"1"'`)
	if r := spawn("part"); r.code != 0 || r.err != "" {
		t.Errorf("with room: %v", r)
	}
	if r := b.dispatch("list", "--scope", "part"); strings.Count(r.out, "\n") != 2 {
		t.Errorf("%v", r)
	}
	b.dispatch("wait", id)
	for _, c := range []struct{ in, err string }{{"79", ""}, {"80", "sbx-dispatch: the run part has used 80 of its 100 tokens\n"}} {
		if r := b.dispatch("tokens", id, "--in", c.in, "--json"); r.code != 0 || r.out != "{\"status\": \"updated\"}\n" || r.err != c.err {
			t.Errorf("%s: %v", c.in, r)
		}
	}
}
