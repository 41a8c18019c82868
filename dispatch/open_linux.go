package dispatch

import (
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"sbx/spec"
)

// Mode is what a ledger is opened for.
type Mode uint8

// The modes.
const (
	Read  Mode = iota // nothing of the file changes, not even what it lacks
	Write             // it is made or brought up to date where it needs that
	Alter             // as Write, of a ledger that is there: a wrong name makes none
)

// patience is how long a ledger that others hold is waited for.
const patience = 60 * time.Second

// Ledger is an open database with a table of dispatches.
type Ledger struct {
	path string
	db   *sql.DB
	own  bool
	cols []column // those that it has
	// Backup is the copy that was made before the first change; "" for none.
	Backup string
}

// Path is the database's file, absolute.
func (l *Ledger) Path() string { return l.path }

// Own tells whether the ledger is one of our own.
func (l *Ledger) Own() bool { return l.own }

// Close closes the database.
func (l *Ledger) Close() error { return l.db.Close() }

// OwnerOf is who owns a path, for Find. A link is not followed.
func OwnerOf(path string) (uid int, there bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

// Open opens a ledger. With Write alone a file that is missing or empty becomes one of
// our own, unless it was found in a project.
func Open(at Place, mode Mode) (*Ledger, error) {
	if err := prepare(at, mode); err != nil {
		return nil, err
	}
	l := &Ledger{path: at.Path}
	var err error
	if mode == Read {
		l.db, err = connect(at.Path, "mode=ro")
	} else {
		l.db, err = connect(at.Path, "mode=rw")
	}
	if err != nil {
		return nil, trouble(at.Path, "open the ledger", err)
	}
	facts, err := l.facts()
	if c := code(err); mode == Read && (c == cannotOpen || c == readOnly) {
		// A database with a write-ahead log in a directory that cannot be written
		// can be read where the log is empty: then nobody is writing.
		if info, e := os.Stat(at.Path + "-wal"); e != nil || info.Size() == 0 {
			_ = l.db.Close()
			if l.db, err = connect(at.Path, "mode=ro&immutable=1"); err == nil {
				facts, err = l.facts()
			}
		}
	}
	if err == nil {
		err = l.ready(at, mode, facts)
	}
	if err != nil {
		_ = l.db.Close()
		return nil, trouble(at.Path, "open the ledger", err)
	}
	return l, nil
}

// ready does to the database what it needs, and learns its columns.
func (l *Ledger) ready(at Place, mode Mode, facts Facts) error {
	change, err := Decide(at.Path, facts)
	if err != nil {
		return err
	}
	if change.Make && facts.Empty && (at.Found || mode != Write) {
		return refuse(at.Path, "there is nothing in it", "let its owner make it (ic init), or name another file with --db")
	}
	if mode == Read && change.Make {
		return refuse(at.Path, "it is older than this program", "run a command that writes, as sbx dispatch poll")
	}
	if mode != Read {
		if !change.None() {
			if facts, err = l.migrate(at.Path); err != nil {
				return err
			}
		}
		if err := l.log(facts.Own); err != nil {
			return err
		}
	}
	l.own, l.cols = facts.Own, among(facts.Columns)
	return nil
}

// prepare looks at the file before SQLite does.
func prepare(at Place, mode Mode) error {
	info, err := os.Stat(at.Path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return refuse(at.Path, "it is not a regular file", "name a file with --db")
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return &spec.Problem{On: at.Path, Do: "open the ledger", Why: plain(err)}
	case mode != Write:
		return &spec.Problem{On: at.Path, Do: "open the ledger", Why: "it is not there", Help: "sbx dispatch spawn makes one"}
	}
	if at.Home {
		if err := os.MkdirAll(filepath.Dir(at.Path), 0o700); err != nil {
			return &spec.Problem{On: at.Path, Do: "make the ledger", Why: plain(err), Help: "name another file with --db"}
		}
	}
	if info, err := os.Lstat(at.Path); err == nil && info.Mode()&fs.ModeSymlink != 0 { // it is known by its own name
		return &spec.Problem{On: at.Path, Do: "make the ledger", Why: "it is a link that leads nowhere", Help: "name the file itself with --db"}
	}
	// SQLite would make it readable for others. Another process may be faster.
	f, err := os.OpenFile(at.Path, os.O_WRONLY|os.O_CREATE|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return &spec.Problem{On: at.Path, Do: "make the ledger", Why: plain(err), Help: "name another file with --db; its directory must be there"}
	}
	return f.Close()
}

// plain is an error of package os without the path, which is told beside.
func plain(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// connect opens the file with the pragmas that every connection has. One
// connection is enough for one process, and takes its locks in order.
func connect(path, query string) (*sql.DB, error) {
	u := url.URL{Scheme: "file", Path: path}
	db, err := sql.Open("sqlite", u.String()+"?"+query+"&_txlock=immediate&_pragma=busy_timeout("+
		strconv.FormatInt(patience.Milliseconds(), 10)+")&_pragma=foreign_keys(1)&_pragma=trusted_schema(0)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// log has the database keep a write-ahead log: whoever reads does not wait for
// who writes. A foreign one whose owner holds it just now stays as it is. With
// the log a commit need not wait for the disk: after a crash of the machine the
// database is whole, and what its last rows lack is in the records.
func (l *Ledger) log(own bool) error {
	var mode string
	err := again(func() error { return l.db.QueryRow("PRAGMA journal_mode").Scan(&mode) })
	if err == nil && mode != "wal" {
		err = again(func() error { return l.db.QueryRow("PRAGMA journal_mode = WAL").Scan(&mode) })
		if err != nil && !own {
			return nil
		}
	}
	if err == nil && mode == "wal" {
		_, err = l.db.Exec("PRAGMA synchronous = NORMAL")
	}
	return err
}
