package dispatch

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// These are the foreign databases that the tests make. The columns of each version are a fact about
// Intercore; the statements are the tests' own.
var since = []struct {
	version int
	columns []string
}{
	{2, []string{"id TEXT NOT NULL PRIMARY KEY", "agent_type TEXT NOT NULL DEFAULT 'codex'", "status TEXT NOT NULL DEFAULT 'spawned'",
		"project_dir TEXT NOT NULL", "prompt_file TEXT", "prompt_hash TEXT", "output_file TEXT", "verdict_file TEXT", "pid INTEGER",
		"exit_code INTEGER", "name TEXT", "model TEXT", "sandbox TEXT DEFAULT 'workspace-write'", "timeout_sec INTEGER",
		"turns INTEGER DEFAULT 0", "commands INTEGER DEFAULT 0", "messages INTEGER DEFAULT 0", "input_tokens INTEGER DEFAULT 0",
		"output_tokens INTEGER DEFAULT 0", "created_at INTEGER NOT NULL DEFAULT (unixepoch())", "started_at INTEGER",
		"completed_at INTEGER", "verdict_status TEXT", "verdict_summary TEXT", "error_message TEXT", "scope_id TEXT", "parent_id TEXT"}},
	{6, []string{"cache_hits INTEGER"}},
	{11, []string{"base_repo_commit TEXT", "retry_count INTEGER NOT NULL DEFAULT 0", "conflict_type TEXT", "quarantine_reason TEXT"}},
	{12, []string{"spawn_depth INTEGER NOT NULL DEFAULT 0", "parent_dispatch_id TEXT NOT NULL DEFAULT ''"}},
	{18, []string{"sandbox_spec TEXT", "sandbox_effective TEXT"}},
}

// currentForeign is the newest version of Intercore's database that was examined.
const currentForeign = 39

// foreign makes a database of Intercore's at a version, with an old row and another table, and
// returns its path.
func foreign(t testing.TB, version int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "intercore.db")
	var columns []string
	for _, s := range since {
		if s.version <= version {
			columns = append(columns, s.columns...)
		}
	}
	run(t, path,
		"CREATE TABLE dispatches ("+strings.Join(columns, ", ")+")",
		"CREATE INDEX idx_dispatches_status ON dispatches(status) WHERE status IN ('spawned', 'running')",
		"CREATE TABLE runs (id TEXT PRIMARY KEY, note TEXT)",
		"CREATE TABLE scheduler_jobs (id TEXT PRIMARY KEY, dispatch_id TEXT, FOREIGN KEY (dispatch_id) REFERENCES dispatches(id))",
		"INSERT INTO runs VALUES ('r1', 'kept')",
		"INSERT INTO dispatches (id, status, project_dir, created_at) VALUES ('old1', 'completed', '/p', 100)",
		fmt.Sprintf("PRAGMA user_version = %d", version))
	return path
}

// run executes statements as another program would.
func run(t testing.TB, path string, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if err := try(path, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func try(path, statement string) error {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(statement)
	return err
}

// one reads a single value.
func one(t testing.TB, path, query string) any {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var v any
	if err := db.QueryRow(query).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

// dump returns everything that a database says about itself, and all its rows except those of
// dispatches.
func dump(t testing.TB, path string) string {
	t.Helper()
	return fmt.Sprint(
		one(t, path, "SELECT group_concat(type || name || tbl_name || coalesce(sql, ''), char(10)) FROM (SELECT * FROM sqlite_master ORDER BY name)"),
		one(t, path, "SELECT group_concat(id || note) FROM runs"),
		one(t, path, "PRAGMA user_version"), one(t, path, "PRAGMA application_id"))
}

func open(t testing.TB, path string) *Ledger {
	t.Helper()
	l, err := Open(Place{Path: path}, Write)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// own returns a new ledger of our own.
func own(t testing.TB) *Ledger {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "dispatches.db"))
}
