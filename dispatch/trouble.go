package dispatch

import (
	"database/sql"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"modernc.org/sqlite"

	"sbx/spec"
)

// The primary result codes of SQLite that are told apart.
const (
	busy       = 5
	locked     = 6
	readOnly   = 8
	damaged    = 11
	failing    = 10
	full       = 13
	cannotOpen = 14
	constraint = 19
	noDatabase = 26
)

// code is SQLite's primary result code of an error; 0 where it is none of
// SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// named tells that a row cannot go, since another table names it
// (SQLITE_CONSTRAINT_FOREIGNKEY).
func named(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == 787
}

// noRoom tells the disk errors that are a full disk: the index of the log could
// not grow (SQLITE_IOERR_SHMSIZE), or a write came short (SQLITE_IOERR_WRITE).
func noRoom(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code() == 4874 || e.Code() == 778)
}

// again does what another process's lock may stop, until it is done or patience
// is at its end: SQLite's own waiting does not cover every lock.
func again(do func() error) error {
	until := time.Now().Add(patience)
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := do()
		if c := code(err); c != busy && c != locked || time.Now().After(until) {
			return err
		}
		time.Sleep(wait/2 + rand.N(wait))
	}
}

// trouble tells an error of SQLite's in the one shape that errors have here.
func trouble(path, do string, err error) error {
	if err == nil {
		return nil
	}
	var p *spec.Problem
	if errors.As(err, &p) {
		return err
	}
	p = &spec.Problem{On: path, Do: do, Why: err.Error()}
	switch code(err) {
	case busy, locked:
		p.Why = "another process has held it for " + patience.String()
		p.Help = "end that process, or try again"
	case readOnly:
		p.Why = "it may only be read"
		p.Help = "make the file and its directory writable, or name another with --db"
	case damaged, noDatabase:
		p.Why = "it is not an SQLite database, or it is damaged"
		p.Help = "restore a copy of it, or name another file with --db"
	case full:
		p.Why = "the disk is full"
		p.Help = "make room, and try again"
	case failing:
		p.Why = "the disk fails (" + err.Error() + ")"
		if noRoom(err) {
			p.Why, p.Help = "the disk is full", "make room, and try again"
		}
	case cannotOpen:
		p.Why = "it cannot be opened, or its log cannot be made next to it"
		if why := closed(path); why != "" {
			p.Why = "its directory may only be read (" + why + ")"
		}
		p.Help = "make the file and its directory readable and writable"
	case constraint:
		p.Why = said(err)
	}
	return p
}

// said is the message of a trigger or a constraint, without SQLite's words
// around it.
func said(err error) string {
	s := strings.TrimPrefix(err.Error(), "constraint failed: ")
	if i := strings.LastIndex(s, " ("); i > 0 {
		s = s[:i]
	}
	return s
}

// change runs do in a transaction of its own, which has the right to write from
// the beginning.
func (l *Ledger) change(what string, do func(tx *sql.Tx) error) error {
	err := again(func() error {
		tx, err := l.db.Begin()
		if err != nil {
			return err
		}
		if err := do(tx); err != nil {
			_ = tx.Rollback()
			return err
		}
		return tx.Commit()
	})
	return trouble(l.path, what, err)
}
