package dispatch

import (
	"database/sql"
	"strings"
	"time"

	"sbx/spec"
)

// End describes the end of a dispatch.
type End struct {
	Status    Status
	At        time.Time
	ExitCode  spec.Opt[int64]
	Counts    Counts
	Error     spec.Opt[string]
	Effective spec.Opt[string] // the record as JSON; absent without a sandbox
	// KeepStatus leaves the status to another program that ends the dispatch too. Only
	// the record is set, unless there is one.
	KeepStatus bool
}

// End ends a dispatch and sets its record in one transaction. If one of the two was done
// before, it does the other: conditions in the statements keep it from changing a
// terminal status or an existing record.
func (l *Ledger) End(id string, e End) error {
	return l.change("end the dispatch", func(tx *sql.Tx) error {
		if !e.KeepStatus {
			for _, withRecord := range []bool{true, false} { // false for a row that has a record already
				n, err := l.endRow(tx, id, e, withRecord)
				if err != nil || n > 0 {
					return err
				}
			}
		}
		if !e.Effective.Set || !l.Has(effectiveColumn) {
			return nil
		}
		and := " AND status IN " + endedList
		if e.KeepStatus {
			and = ""
		}
		_, err := affected(tx, "UPDATE dispatches SET sandbox_effective = ? WHERE id = ? AND sandbox_effective IS NULL"+and, e.Effective.Value, id)
		return err
	})
}

// endRow ends a dispatch that has not ended. With withRecord it also sets the record, and
// changes only a row without one.
func (l *Ledger) endRow(tx *sql.Tx, id string, e End, withRecord bool) (int64, error) {
	if withRecord && !l.Has(effectiveColumn) {
		return 0, nil
	}
	c := e.Counts
	if !l.Has("cache_hits") {
		c.Cached = spec.Opt[int64]{}
	}
	sets, args := c.fields()
	sets, args = append(sets, "status = ?", "completed_at = ?"), append(args, string(e.Status), e.At.Unix())
	if e.ExitCode.Set {
		sets, args = append(sets, "exit_code = ?"), append(args, e.ExitCode.Value)
	}
	if e.Error.Set {
		sets, args = append(sets, "error_message = ?"), append(args, e.Error.Value)
	}
	where := " WHERE id = ? AND status NOT IN " + endedList
	if withRecord {
		where += " AND sandbox_effective IS NULL"
		if e.Effective.Set {
			sets, args = append(sets, "sandbox_effective = ?"), append(args, e.Effective.Value)
		}
	}
	return affected(tx, "UPDATE dispatches SET "+strings.Join(sets, ", ")+where, append(args, id)...)
}

// Prune deletes the dispatches that have ended and were created before a time, and returns
// their ids. kept is the number of those that stay because another table refers to them,
// such as Intercore's queue.
func (l *Ledger) Prune(before time.Time) (ids []string, kept int, err error) {
	err = l.change("prune the ledger", func(tx *sql.Tx) error {
		ids, kept = nil, 0
		old, err := firstColumn(tx, "SELECT id FROM dispatches WHERE created_at < ? AND status NOT IN ('spawned', 'running')", before.Unix())
		if err != nil {
			return err
		}
		for _, id := range old {
			switch _, err := affected(tx, "DELETE FROM dispatches WHERE id = ?", id); {
			case isReferenced(err):
				kept++
			case err != nil:
				return err
			default:
				ids = append(ids, asText(id).Value)
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return ids, kept, nil
}

// firstColumn returns the first column of all rows of a query.
func firstColumn(tx *sql.Tx, query string, args ...any) (all []any, err error) {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var v any
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
