package dispatch

import (
	"crypto/rand"
	"database/sql"
	"strings"
	"time"

	"sbx/spec"
)

// NewID returns a new id for a dispatch, of the form of Intercore's.
func NewID() string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	id := make([]byte, 0, 8)
	for len(id) < cap(id) {
		var b [1]byte
		_, _ = rand.Read(b[:]) // never fails
		if b[0] < 252 {        // a multiple of 36, so that all letters are equally likely
			id = append(id, letters[b[0]%36])
		}
	}
	return string(id)
}

// Insert adds the row of a dispatch. An absent field gets the column's default, except
// that sandbox is then NULL.
func (l *Ledger) Insert(d *Dispatch) error {
	if d.SandboxSpec.Set && !l.Has(specColumn) {
		return lacksColumn(l.path, "keep a spec", specColumn)
	}
	names := []string{"id", "agent_type", "status", "project_dir"}
	args := []any{d.ID, d.AgentType, string(d.Status), d.ProjectDir}
	for i := range l.cols {
		c := &l.cols[i]
		if c.value(d) != nil || c.name == "sandbox" {
			names, args = append(names, c.name), append(args, c.value(d))
		}
	}
	query := "INSERT INTO dispatches (" + strings.Join(names, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(names)-1) + ")"
	return l.change("add a dispatch", func(tx *sql.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
}

// Claim records process pid for a dispatch that was not started yet. claimed is false if
// the dispatch has a process already or has ended.
func (l *Ledger) Claim(id string, pid int, now time.Time) (claimed bool, err error) {
	err = l.change("claim the dispatch", func(tx *sql.Tx) error {
		n, err := affected(tx, "UPDATE dispatches SET status = 'running', pid = ?, started_at = ? WHERE id = ? AND status = 'spawned' AND pid IS NULL",
			pid, now.Unix(), id)
		claimed = n > 0
		return err
	})
	return claimed, err
}

// Counts holds what a dispatch has used so far. Absent fields do not change the row.
type Counts struct {
	Turns, Commands, Messages  spec.Opt[int64]
	Input, Output, Cached      spec.Opt[int64]
	VerdictStatus, VerdictText spec.Opt[string]
}

// fields returns the SET clauses for the fields that are set, and their arguments.
func (c *Counts) fields() (sets []string, args []any) {
	for _, n := range []struct {
		name string
		v    spec.Opt[int64]
	}{{"turns", c.Turns}, {"commands", c.Commands}, {"messages", c.Messages},
		{"input_tokens", c.Input}, {"output_tokens", c.Output}, {"cache_hits", c.Cached}} {
		if n.v.Set {
			sets, args = append(sets, n.name+" = ?"), append(args, n.v.Value)
		}
	}
	if c.VerdictStatus.Set {
		sets, args = append(sets, "verdict_status = ?"), append(args, c.VerdictStatus.Value)
	}
	if c.VerdictText.Set {
		sets, args = append(sets, "verdict_summary = ?"), append(args, c.VerdictText.Value)
	}
	return sets, args
}

// Progress updates the counts of a dispatch that has not ended.
func (l *Ledger) Progress(id string, c Counts) error {
	return l.count("note the progress", id, c, " AND status NOT IN "+endedList)
}

// Tokens updates the counts of a dispatch in any state.
func (l *Ledger) Tokens(id string, c Counts) error { return l.count("note the tokens", id, c, "") }

// count updates the counts of a dispatch; and is a further condition on the row.
func (l *Ledger) count(what, id string, c Counts, and string) error {
	if c.Cached.Set && !l.Has("cache_hits") {
		if and == "" {
			return lacksColumn(l.path, what, "cache_hits")
		}
		c.Cached = spec.Opt[int64]{}
	}
	sets, args := c.fields()
	if len(sets) == 0 {
		return nil
	}
	var found int64
	err := l.change(what, func(tx *sql.Tx) (err error) {
		found, err = affected(tx, "UPDATE dispatches SET "+strings.Join(sets, ", ")+" WHERE id = ?"+and, append(args, id)...)
		return err
	})
	if err == nil && found == 0 && and == "" {
		return &NotFound{ID: id, Path: l.path}
	}
	return err
}

func affected(tx *sql.Tx, query string, args ...any) (int64, error) {
	r, err := tx.Exec(query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}
