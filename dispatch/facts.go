package dispatch

import (
	"context"
	"database/sql"
)

// facts reads the Facts for Decide in one transaction, since another process may be making
// the ledger at this moment.
func (l *Ledger) facts() (f Facts, err error) {
	err = retryLocked(func() error {
		ctx := context.Background()
		conn, err := l.db.Conn(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		if _, err := conn.ExecContext(ctx, "BEGIN DEFERRED"); err != nil {
			return err
		}
		f, err = readFacts(connection{conn})
		if _, e := conn.ExecContext(ctx, "ROLLBACK"); err == nil {
			err = e
		}
		return err
	})
	return f, err
}

// querier is a connection or a transaction.
type querier interface {
	QueryRow(query string, args ...any) *sql.Row
	Query(query string, args ...any) (*sql.Rows, error)
}

// connection is one connection as a querier.
type connection struct{ conn *sql.Conn }

func (c connection) QueryRow(query string, args ...any) *sql.Row {
	return c.conn.QueryRowContext(context.Background(), query, args...)
}

func (c connection) Query(query string, args ...any) (*sql.Rows, error) {
	return c.conn.QueryContext(context.Background(), query, args...)
}

func readFacts(db querier) (Facts, error) {
	var f Facts
	var mark int64
	var objects int
	if err := db.QueryRow("PRAGMA application_id").Scan(&mark); err != nil {
		return f, err
	}
	if err := db.QueryRow("PRAGMA user_version").Scan(&f.Version); err != nil {
		return f, err
	}
	if err := db.QueryRow("SELECT count(*) FROM sqlite_master").Scan(&objects); err != nil {
		return f, err
	}
	f.Own = mark == application
	f.Empty = mark == 0 && f.Version == 0 && objects == 0
	rows, err := db.Query("SELECT i.name FROM sqlite_master m, pragma_table_info(m.name) i WHERE m.type = 'table' AND m.name = 'dispatches'")
	if err != nil {
		return f, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return f, err
		}
		f.Columns = append(f.Columns, name)
	}
	return f, rows.Err()
}
