package dispatch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sbx/spec"
)

// column is a column of the table: its declaration in an own ledger, and its field of a
// Dispatch. Exactly one of text and number is set.
type column struct {
	name   string
	decl   string
	needed bool // a foreign ledger must have it
	text   func(*Dispatch) *spec.Opt[string]
	number func(*Dispatch) *spec.Opt[int64]
}

const (
	specColumn      = "sandbox_spec"
	effectiveColumn = "sandbox_effective"
)

// columns are Intercore's columns in its order, except keyColumns. Those of its version 2
// are needed; later ones are used if the ledger has them.
var columns = []column{
	{"prompt_file", "TEXT", true, func(d *Dispatch) *spec.Opt[string] { return &d.PromptFile }, nil},
	{"prompt_hash", "TEXT", false, func(d *Dispatch) *spec.Opt[string] { return &d.PromptHash }, nil},
	{"output_file", "TEXT", true, func(d *Dispatch) *spec.Opt[string] { return &d.OutputFile }, nil},
	{"verdict_file", "TEXT", true, func(d *Dispatch) *spec.Opt[string] { return &d.VerdictFile }, nil},
	{"pid", "INTEGER", true, nil, func(d *Dispatch) *spec.Opt[int64] { return &d.PID }},
	{"exit_code", "INTEGER", true, nil, func(d *Dispatch) *spec.Opt[int64] { return &d.ExitCode }},
	{"name", "TEXT", true, func(d *Dispatch) *spec.Opt[string] { return &d.Name }, nil},
	{"model", "TEXT", true, func(d *Dispatch) *spec.Opt[string] { return &d.Model }, nil},
	{"sandbox", "TEXT DEFAULT 'workspace-write'", true, func(d *Dispatch) *spec.Opt[string] { return &d.Sandbox }, nil},
	{specColumn, "TEXT", false, func(d *Dispatch) *spec.Opt[string] { return &d.SandboxSpec }, nil},
	{effectiveColumn, "TEXT", false, func(d *Dispatch) *spec.Opt[string] { return &d.SandboxEffective }, nil},
	{"timeout_sec", "INTEGER", true, nil, func(d *Dispatch) *spec.Opt[int64] { return &d.TimeoutSec }},
	{"turns", "INTEGER DEFAULT 0", true, nil, func(d *Dispatch) *spec.Opt[int64] { return &d.Turns }},
	{"commands", "INTEGER DEFAULT 0", true, nil, func(d *Dispatch) *spec.Opt[int64] { return &d.Commands }},
	{"messages", "INTEGER DEFAULT 0", true, nil, func(d *Dispatch) *spec.Opt[int64] { return &d.Messages }},
	{"input_tokens", "INTEGER DEFAULT 0", true, nil, func(d *Dispatch) *spec.Opt[int64] { return &d.InputTokens }},
	{"output_tokens", "INTEGER DEFAULT 0", true, nil, func(d *Dispatch) *spec.Opt[int64] { return &d.OutputTokens }},
	{"cache_hits", "INTEGER", false, nil, func(d *Dispatch) *spec.Opt[int64] { return &d.CacheHits }},
	{"created_at", "INTEGER NOT NULL DEFAULT (unixepoch())", true, nil, func(d *Dispatch) *spec.Opt[int64] { return &d.CreatedAt }},
	{"started_at", "INTEGER", true, nil, func(d *Dispatch) *spec.Opt[int64] { return &d.StartedAt }},
	{"completed_at", "INTEGER", true, nil, func(d *Dispatch) *spec.Opt[int64] { return &d.CompletedAt }},
	{"verdict_status", "TEXT", true, func(d *Dispatch) *spec.Opt[string] { return &d.VerdictStatus }, nil},
	{"verdict_summary", "TEXT", true, func(d *Dispatch) *spec.Opt[string] { return &d.VerdictSummary }, nil},
	{"error_message", "TEXT", true, func(d *Dispatch) *spec.Opt[string] { return &d.ErrorMessage }, nil},
	{"scope_id", "TEXT", false, func(d *Dispatch) *spec.Opt[string] { return &d.ScopeID }, nil},
	{"parent_id", "TEXT", false, func(d *Dispatch) *spec.Opt[string] { return &d.ParentID }, nil},
	{"base_repo_commit", "TEXT", false, func(d *Dispatch) *spec.Opt[string] { return &d.BaseRepoCommit }, nil},
	{"retry_count", "INTEGER NOT NULL DEFAULT 0", false, nil, func(d *Dispatch) *spec.Opt[int64] { return &d.RetryCount }},
	{"conflict_type", "TEXT", false, func(d *Dispatch) *spec.Opt[string] { return &d.ConflictType }, nil},
	{"quarantine_reason", "TEXT", false, func(d *Dispatch) *spec.Opt[string] { return &d.QuarantineReason }, nil},
	{"spawn_depth", "INTEGER NOT NULL DEFAULT 0", false, nil, func(d *Dispatch) *spec.Opt[int64] { return &d.SpawnDepth }},
	{"parent_dispatch_id", "TEXT NOT NULL DEFAULT ''", false, func(d *Dispatch) *spec.Opt[string] { return &d.ParentDispatchID }, nil},
}

// Each calls f with each field that may be absent: the name of its column, and a pointer
// to its text or its number; the other pointer is nil.
func (d *Dispatch) Each(f func(column string, text *spec.Opt[string], number *spec.Opt[int64])) {
	for i := range columns {
		if c := &columns[i]; c.text != nil {
			f(c.name, c.text(d), nil)
		} else {
			f(c.name, nil, c.number(d))
		}
	}
}

// keyColumns are the columns that are set in every row. They precede columns.
var keyColumns = []struct{ name, decl string }{
	{"id", "TEXT NOT NULL PRIMARY KEY"},
	{"agent_type", "TEXT NOT NULL DEFAULT 'codex'"},
	{"status", "TEXT NOT NULL DEFAULT 'spawned'"},
	{"project_dir", "TEXT NOT NULL"},
}

// columnsIn returns those columns that are in names.
func columnsIn(names []string) []column {
	var kept []column
	for _, c := range columns {
		if hasName(names, c.name) {
			kept = append(kept, c)
		}
	}
	return kept
}

// hasName reports whether name is in names, ignoring case as SQLite does.
func hasName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// put stores a value from the database in the column's field. A value that is not a
// number leaves a number field absent.
func (c *column) put(d *Dispatch, v any) {
	if c.text != nil {
		*c.text(d) = asText(v)
		return
	}
	*c.number(d) = asNumber(v)
}

// value returns the column's field as an argument of a statement, nil if it is absent.
func (c *column) value(d *Dispatch) any {
	if c.text != nil {
		if v := *c.text(d); v.Set {
			return v.Value
		}
		return nil
	}
	if v := *c.number(d); v.Set {
		return v.Value
	}
	return nil
}

func asText(v any) spec.Opt[string] {
	switch v := v.(type) {
	case nil:
		return spec.Opt[string]{}
	case string:
		return spec.Some(v)
	case []byte:
		return spec.Some(string(v))
	}
	return spec.Some(fmt.Sprint(v))
}

func asNumber(v any) spec.Opt[int64] {
	switch v := v.(type) {
	case int64:
		return spec.Some(v)
	case string:
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return spec.Some(n)
		}
	case float64:
		if n := int64(v); float64(n) == v {
			return spec.Some(n)
		}
	}
	return spec.Opt[int64]{}
}
