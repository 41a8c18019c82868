package dispatch

import (
	"database/sql"
	"slices"
	"strings"

	"sbx/spec"
)

// NotFound is the error for an id that is not in the ledger.
type NotFound struct{ ID, Path string }

// Error names the id and the ledger.
func (e *NotFound) Error() string { return "no dispatch " + e.ID + " in " + e.Path }

// Filter selects dispatches. All conditions that are set must hold.
type Filter struct {
	Active bool             // the dispatch has not ended
	Scope  spec.Opt[string] // its scope_id
	Output spec.Opt[string] // its output file
}

// names returns the names of the ledger's columns, keyColumns first.
func (l *Ledger) names() []string {
	names := make([]string, 0, len(keyColumns)+len(l.cols))
	for _, c := range keyColumns {
		names = append(names, c.name)
	}
	for _, c := range l.cols {
		names = append(names, c.name)
	}
	return names
}

// Get reads one dispatch. The error is a *NotFound if there is none.
func (l *Ledger) Get(id string) (Dispatch, error) {
	list, err := l.query("WHERE id = ?", id)
	if err != nil {
		return Dispatch{}, err
	}
	if len(list) == 0 {
		return Dispatch{}, &NotFound{ID: id, Path: l.path}
	}
	return list[0], nil
}

// List reads the dispatches that a filter selects, the newest first.
func (l *Ledger) List(f Filter) ([]Dispatch, error) {
	var where []string
	var args []any
	if f.Active {
		where = append(where, "status IN ('spawned', 'running')") // the condition of the index
	}
	if f.Scope.Set {
		if !l.Has("scope_id") {
			return nil, lacksColumn(l.path, "list by scope", "scope_id")
		}
		where, args = append(where, "scope_id = ?"), append(args, f.Scope.Value)
	}
	if f.Output.Set {
		where, args = append(where, "output_file = ?"), append(args, f.Output.Value)
	}
	text := ""
	if len(where) > 0 {
		text = "WHERE " + strings.Join(where, " AND ") + " "
	}
	return l.query(text+"ORDER BY created_at DESC, rowid DESC", args...)
}

// Has reports whether the ledger has a column, apart from keyColumns.
func (l *Ledger) Has(name string) bool {
	return slices.ContainsFunc(l.cols, func(c column) bool { return c.name == name })
}

func lacksColumn(path, do, name string) error {
	return &spec.Problem{On: path, Do: do, Why: "its table dispatches has no column " + name, Help: "let its owner bring it up to date (ic init)"}
}

// query reads rows. Values of the wrong type in a foreign ledger are converted or left
// out, see column.put.
func (l *Ledger) query(rest string, args ...any) (list []Dispatch, err error) {
	names := l.names()
	err = retryLocked(func() error {
		list = nil
		rows, err := l.db.Query("SELECT "+strings.Join(names, ", ")+" FROM dispatches "+rest, args...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			d, err := l.scan(rows, len(names))
			if err != nil {
				return err
			}
			list = append(list, d)
		}
		return rows.Err()
	})
	return list, problemOf(l.path, "read the ledger", err)
}

func (l *Ledger) scan(rows *sql.Rows, n int) (Dispatch, error) {
	values, into := make([]any, n), make([]any, n)
	for i := range values {
		into[i] = &values[i]
	}
	if err := rows.Scan(into...); err != nil {
		return Dispatch{}, err
	}
	d := Dispatch{ID: asText(values[0]).Value, AgentType: asText(values[1]).Value,
		Status: Status(asText(values[2]).Value), ProjectDir: asText(values[3]).Value}
	for i := range l.cols {
		l.cols[i].put(&d, values[len(keyColumns)+i])
	}
	return d, nil
}
