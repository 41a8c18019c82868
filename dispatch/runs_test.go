package dispatch

import (
	"path/filepath"
	"strings"
	"testing"

	"sbx/spec"
)

// Facts about a scope are read from the tables of Intercore's runs, whatever these contain, and
// nothing in them changes.
func TestRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "intercore.db")
	var columns []string
	for _, s := range since {
		columns = append(columns, s.columns...)
	}
	run(t, path,
		"CREATE TABLE dispatches ("+strings.Join(columns, ", ")+")",
		"CREATE TABLE runs (id TEXT PRIMARY KEY, parent_run_id TEXT, max_dispatches INTEGER DEFAULT 0, token_budget INTEGER, budget_warn_pct INTEGER DEFAULT 80)",
		"CREATE TABLE state (key TEXT NOT NULL, scope_id TEXT NOT NULL, payload TEXT NOT NULL, expires_at INTEGER, PRIMARY KEY (key, scope_id))",
		"INSERT INTO runs VALUES ('two', NULL, 2, 1000, 80), ('any', NULL, 0, NULL, 80), ('odd', NULL, 'many', 'much', 'x')",
		"INSERT INTO runs (id, parent_run_id, token_budget, budget_warn_pct) VALUES ('child', 'two', 1000, 80), ('free', 'any', -1, 80), ('orphan', 'gone', 10, NULL), ('odder', 'odd', 9223372036854775807, 9223372036854775807)",
		"PRAGMA user_version = 39")
	l := open(t, path)
	before := one(t, path, "SELECT group_concat(sql) FROM sqlite_master")
	for _, scope := range []string{"two", "free", "orphan", "odder", "no such run", ""} {
		if p, has, err := l.Portfolio(scope); has || err != nil {
			t.Errorf("%s: %+v, %v", scope, p, err)
		}
	}
	count := "INSERT OR REPLACE INTO state VALUES ('active-dispatch-count', 'two', "
	for _, c := range []struct {
		do      string
		counted bool
		refused bool
	}{
		{"SELECT 1", false, false},
		{count + `'"1"', NULL)`, true, false},
		{count + `'"2"', NULL)`, true, true},
		{count + `'"3"', unixepoch() + 100)`, true, true},
		{count + `'"3"', unixepoch() - 1)`, false, false},
		{count + `'3', NULL)`, false, false},
		{count + `'"many"', NULL)`, false, false},
		{count + `x'00ff', NULL)`, false, false},
	} {
		run(t, path, c.do)
		p, has, err := l.Portfolio("child")
		if !has || err != nil || p.Active.Set != c.counted || (p.Allows() != nil) != c.refused {
			t.Errorf("%s: %+v, %v, %v: %v", c.do, p, has, err, p.Allows())
		}
	}
	for i, id := range []string{"a", "b", "c"} {
		if err := l.Insert(&Dispatch{ID: id, Status: Completed, ScopeID: spec.Some("child"), InputTokens: spec.Some(int64(i)), OutputTokens: spec.Some(int64(100))}); err != nil {
			t.Fatal(err)
		}
	}
	if b, has, err := l.Budget("child"); !has || err != nil || b != (Budget{Used: 303, Most: 1000, Warn: 800}) {
		t.Errorf("%+v, %v, %v", b, has, err)
	}
	if b, has, err := l.Budget("orphan"); !has || err != nil || b != (Budget{Most: 10, Warn: 10}) {
		t.Errorf("%+v, %v, %v", b, has, err)
	}
	for _, scope := range []string{"any", "free", "odd", "none"} {
		if b, has, err := l.Budget(scope); has || err != nil {
			t.Errorf("%s: %+v, %v", scope, b, err)
		}
	}
	if now := one(t, path, "SELECT group_concat(sql) FROM sqlite_master"); now != before {
		t.Errorf("%v", now)
	}
	// Older tables, and ledgers of our own, have no such facts.
	both(t, func(t *testing.T, l *Ledger) {
		if p, has, err := l.Portfolio("r1"); has || err != nil {
			t.Errorf("%+v, %v", p, err)
		}
		if b, has, err := l.Budget("r1"); has || err != nil {
			t.Errorf("%+v, %v", b, err)
		}
	})
}
