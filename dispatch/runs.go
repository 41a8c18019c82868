package dispatch

import (
	"database/sql"
	"encoding/json"
	"errors"
	"strconv"

	"sbx/spec"
)

// A foreign ledger has further tables of Intercore's. If a scope is one of Intercore's
// runs, they hold limits that apply to its dispatches. This package reads them and never
// writes them.

// sqlError is SQLite's code for a statement that names a missing table or column.
const sqlError = 1

// Portfolio limits how many dispatches of its runs may be active at once.
type Portfolio struct {
	ID     string
	Most   int64
	Active spec.Opt[int64] // as last counted by Intercore's relay in all projects
}

// Portfolio returns the portfolio of a run; ok is false if the run has none, or one
// without a limit.
func (l *Ledger) Portfolio(scope string) (p Portfolio, ok bool, err error) {
	row, err := l.queryRow("SELECT p.id, p.max_dispatches FROM runs r JOIN runs p ON p.id = r.parent_run_id WHERE r.id = ?", scope)
	if err != nil || row == nil {
		return p, false, err
	}
	p.ID, p.Most = asText(row[0]).Value, asNumber(row[1]).Value
	if p.Most <= 0 {
		return p, false, nil
	}
	row, err = l.queryRow("SELECT payload, 0 FROM state WHERE key = 'active-dispatch-count' AND scope_id = ? AND (expires_at IS NULL OR expires_at > unixepoch())", p.ID)
	if row != nil {
		var digits string
		if json.Unmarshal([]byte(asText(row[0]).Value), &digits) == nil {
			p.Active = asNumber(digits)
		}
	}
	return p, err == nil, err
}

// Allows returns an error if the portfolio has reached its limit.
func (p Portfolio) Allows() error {
	if !p.Active.Set || p.Active.Value < p.Most {
		return nil
	}
	return &spec.Problem{On: "portfolio " + p.ID, Do: "add a dispatch", Help: "wait until one of them has ended",
		Why: "it has " + strconv.FormatInt(p.Active.Value, 10) + " of the " + strconv.FormatInt(p.Most, 10) + " that it may have at once"}
}

// Budget is the number of tokens that the dispatches of a run have used, the most that
// they may use, and from which number on the user is warned.
type Budget struct{ Used, Most, Warn int64 }

// Budget returns the budget of a run; ok is false if it has none.
func (l *Ledger) Budget(scope string) (b Budget, ok bool, err error) {
	row, err := l.queryRow("SELECT token_budget, budget_warn_pct FROM runs WHERE id = ?", scope)
	if err != nil || row == nil {
		return b, false, err
	}
	b.Most = asNumber(row[0]).Value
	if b.Most <= 0 {
		return b, false, nil
	}
	b.Warn = int64(float64(b.Most) * float64(asNumber(row[1]).Or(100)) / 100)
	row, err = l.queryRow("SELECT coalesce(sum(input_tokens), 0) + coalesce(sum(output_tokens), 0), 0 FROM dispatches WHERE scope_id = ?", scope)
	if row != nil {
		b.Used = asNumber(row[0]).Value
	}
	return b, err == nil, err
}

// queryRow reads one row of two values from a foreign ledger. row is nil if there is none,
// or if the ledger does not have the expected tables.
func (l *Ledger) queryRow(query string, args ...any) (row []any, err error) {
	if l.own {
		return nil, nil
	}
	err = retryLocked(func() error {
		row = make([]any, 2)
		return l.db.QueryRow(query, args...).Scan(&row[0], &row[1])
	})
	if errors.Is(err, sql.ErrNoRows) || code(err) == sqlError {
		return nil, nil
	}
	if err != nil {
		return nil, problemOf(l.path, "read the runs", err)
	}
	return row, nil
}
