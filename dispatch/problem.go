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

// Primary result codes of SQLite.
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

// code returns the primary result code of an error; 0 if it is not SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// isReferenced reports whether a row cannot be deleted because another table refers to it
// (SQLITE_CONSTRAINT_FOREIGNKEY).
func isReferenced(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == 787
}

// isFullDisk reports whether a disk error means a full disk: the index of the log could
// not grow (SQLITE_IOERR_SHMSIZE), or a write was incomplete (SQLITE_IOERR_WRITE).
func isFullDisk(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code() == 4874 || e.Code() == 778)
}

// retryLocked repeats do as long as it fails because of another process's lock, for
// patience at most: SQLite's own busy timeout does not cover every lock.
func retryLocked(do func() error) error {
	until := time.Now().Add(patience)
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := do()
		if c := code(err); c != busy && c != locked || time.Now().After(until) {
			return err
		}
		time.Sleep(wait/2 + rand.N(wait))
	}
}

// problemOf converts an error of SQLite to a spec.Problem.
func problemOf(path, do string, err error) error {
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
		if isFullDisk(err) {
			p.Why, p.Help = "the disk is full", "make room, and try again"
		}
	case cannotOpen:
		p.Why = "it cannot be opened, or its log cannot be made next to it"
		if why := unwritable(path); why != "" {
			p.Why = "its directory may only be read (" + why + ")"
		}
		p.Help = "make the file and its directory readable and writable"
	case constraint:
		p.Why = messageOf(err)
	}
	return p
}

// messageOf returns the message of a trigger or a constraint, without the text that SQLite
// adds.
func messageOf(err error) string {
	s := strings.TrimPrefix(err.Error(), "constraint failed: ")
	if i := strings.LastIndex(s, " ("); i > 0 {
		s = s[:i]
	}
	return s
}

// change runs do in a transaction, which has the lock for writing from the beginning
// (_txlock=immediate).
func (l *Ledger) change(what string, do func(tx *sql.Tx) error) error {
	err := retryLocked(func() error {
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
	return problemOf(l.path, what, err)
}
