package dispatch

import (
	"database/sql"
	"strings"
	"time"

	"sbx/spec"
)

// End is how a dispatch ended.
type End struct {
	Status    Status
	At        time.Time
	ExitCode  spec.Opt[int64]
	Counts    Counts
	Error     spec.Opt[string]
	Effective spec.Opt[string] // the record, as JSON; absent where there was no sandbox
	// KeepStatus leaves the status to who ends the dispatch beside: the record
	// alone is set, where it is not.
	KeepStatus bool
}

// Ended is what an End came to.
type Ended struct {
	Status    bool // it ended the dispatch
	Effective bool // it set sandbox_effective
}

// End ends a dispatch and sets its record, both at once, or one of them where
// the other is there already. A status that is terminal and a record that is set
// are never changed: the conditions stand in the statements.
func (l *Ledger) End(id string, e End) (Ended, error) {
	var done Ended
	err := l.change("end the dispatch", func(tx *sql.Tx) error {
		done = Ended{}
		if !e.KeepStatus {
			n, err := l.endBoth(tx, id, e)
			if err != nil || n > 0 {
				done = Ended{Status: n > 0, Effective: n > 0 && e.Effective.Set}
				return err
			}
			// The record is another's: the status alone is left.
			if n, err = l.endStatus(tx, id, e); err != nil || n > 0 {
				done.Status = n > 0
				return err
			}
		}
		if !e.Effective.Set || !l.Has(effectiveColumn) {
			return nil
		}
		and := " AND status IN " + endedList
		if e.KeepStatus {
			and = ""
		}
		n, err := affected(tx, "UPDATE dispatches SET sandbox_effective = ? WHERE id = ? AND sandbox_effective IS NULL"+and, e.Effective.Value, id)
		done.Effective = n > 0
		return err
	})
	return done, err
}

func (l *Ledger) endBoth(tx *sql.Tx, id string, e End) (int64, error) {
	if !l.Has(effectiveColumn) {
		return 0, nil
	}
	sets, args := l.endFields(e)
	if e.Effective.Set {
		sets, args = append(sets, "sandbox_effective = ?"), append(args, e.Effective.Value)
	}
	return affected(tx, "UPDATE dispatches SET "+strings.Join(sets, ", ")+
		" WHERE id = ? AND sandbox_effective IS NULL AND status NOT IN "+endedList, append(args, id)...)
}

func (l *Ledger) endStatus(tx *sql.Tx, id string, e End) (int64, error) {
	sets, args := l.endFields(e)
	return affected(tx, "UPDATE dispatches SET "+strings.Join(sets, ", ")+" WHERE id = ? AND status NOT IN "+endedList, append(args, id)...)
}

func (l *Ledger) endFields(e End) (sets []string, args []any) {
	c := e.Counts
	if !l.Has("cache_hits") {
		c.Cached = spec.Opt[int64]{}
	}
	sets, args = c.fields()
	sets, args = append(sets, "status = ?", "completed_at = ?"), append(args, string(e.Status), e.At.Unix())
	if e.ExitCode.Set {
		sets, args = append(sets, "exit_code = ?"), append(args, e.ExitCode.Value)
	}
	if e.Error.Set {
		sets, args = append(sets, "error_message = ?"), append(args, e.Error.Value)
	}
	return sets, args
}

// Prune deletes the dispatches that ended and were made before a time, and gives
// their ids, and how many are kept since another table names them, as Intercore's
// queue does.
func (l *Ledger) Prune(before time.Time) (ids []string, kept int, err error) {
	err = l.change("prune the ledger", func(tx *sql.Tx) error {
		ids, kept = nil, 0
		old, err := column0(tx, "SELECT id FROM dispatches WHERE created_at < ? AND status NOT IN ('spawned', 'running')", before.Unix())
		if err != nil {
			return err
		}
		for _, id := range old {
			switch _, err := affected(tx, "DELETE FROM dispatches WHERE id = ?", id); {
			case named(err):
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

// column0 is the first column of all rows.
func column0(tx *sql.Tx, query string, args ...any) (all []any, err error) {
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
