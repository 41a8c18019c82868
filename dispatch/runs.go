package dispatch

import (
	"database/sql"
	"encoding/json"
	"errors"
	"strconv"

	"sbx/spec"
)

// Intercore's own tables, where the ledger has them, know of a scope that is one
// of its runs. They are read and never written: what they say binds here too,
// what is to be noted in them is Intercore's.

// sqlError is SQLite's code for a statement that names what is not there.
const sqlError = 1

// Portfolio is how many dispatches a run's portfolio allows at once.
type Portfolio struct {
	ID     string
	Most   int64
	Active spec.Opt[int64] // as Intercore's relay has counted them in all its projects
}

// Portfolio is that of the run that a scope names; false where it has none, or
// one that allows any number.
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

// Allows refuses a dispatch of a portfolio that has as many as it may.
func (p Portfolio) Allows() error {
	if !p.Active.Set || p.Active.Value < p.Most {
		return nil
	}
	return &spec.Problem{On: "portfolio " + p.ID, Do: "add a dispatch", Help: "wait until one of them has ended",
		Why: "it has " + strconv.FormatInt(p.Active.Value, 10) + " of the " + strconv.FormatInt(p.Most, 10) + " that it may have at once"}
}

// Budget is what a run may use of tokens, and what its dispatches have used.
type Budget struct{ Used, Most, Warn int64 }

// Budget is that of the run that a scope names; false where it has none.
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

// queryRow reads one row of two values from a foreign ledger; nil where there is
// none, or where the tables are not as they are known.
func (l *Ledger) queryRow(query string, args ...any) (row []any, err error) {
	if l.own {
		return nil, nil
	}
	err = again(func() error {
		row = make([]any, 2)
		return l.db.QueryRow(query, args...).Scan(&row[0], &row[1])
	})
	if errors.Is(err, sql.ErrNoRows) || code(err) == sqlError {
		return nil, nil
	}
	if err != nil {
		return nil, trouble(l.path, "read the runs", err)
	}
	return row, nil
}
