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

// Mode says for what a ledger is opened.
type Mode uint8

// The modes.
const (
	Read  Mode = iota // Open does not change the file, not even to update it
	Write             // Open creates or updates the ledger if necessary
	Alter             // as Write, but the ledger must exist
)

// patience is how long to wait for a ledger that other processes have locked.
const patience = 60 * time.Second

// Ledger is an open database with a table of dispatches.
type Ledger struct {
	path string
	db   *sql.DB
	own  bool
	cols []column // the columns that it has
	// Backup is the path of the copy made before the first change; "" for none.
	Backup string
}

// Path returns the absolute path of the database.
func (l *Ledger) Path() string { return l.path }

// Own reports whether the ledger was made by sbx.
func (l *Ledger) Own() bool { return l.own }

// Close closes the database.
func (l *Ledger) Close() error { return l.db.Close() }

// OwnerOf returns the owner of a path, for Find. It does not follow symbolic links.
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

// Open opens a ledger. Only with Write, a missing or empty file becomes an own ledger,
// unless Find found it in a project.
func Open(at Place, mode Mode) (*Ledger, error) {
	if err := checkFile(at, mode); err != nil {
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
		return nil, problemOf(at.Path, "open the ledger", err)
	}
	facts, err := l.facts()
	if c := code(err); mode == Read && (c == cannotOpen || c == readOnly) {
		// SQLite cannot open a database with a write-ahead log in a read-only directory.
		// If the log is empty nobody is writing, so the file can be read as immutable.
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
		return nil, problemOf(at.Path, "open the ledger", err)
	}
	return l, nil
}

// ready makes the changes that the database needs, and sets own and cols.
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
		if err := l.enableLog(facts.Own); err != nil {
			return err
		}
	}
	l.own, l.cols = facts.Own, columnsIn(facts.Columns)
	return nil
}

// checkFile refuses files that SQLite must not open, and creates a missing one.
func checkFile(at Place, mode Mode) error {
	info, err := os.Stat(at.Path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return refuse(at.Path, "it is not a regular file", "name a file with --db")
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return &spec.Problem{On: at.Path, Do: "open the ledger", Why: WithoutPath(err)}
	case mode != Write:
		return &spec.Problem{On: at.Path, Do: "open the ledger", Why: "it is not there", Help: "sbx dispatch spawn makes one"}
	}
	if at.Home {
		if err := os.MkdirAll(filepath.Dir(at.Path), 0o700); err != nil {
			return &spec.Problem{On: at.Path, Do: "make the ledger", Why: WithoutPath(err), Help: "name another file with --db"}
		}
	}
	if info, err := os.Lstat(at.Path); err == nil && info.Mode()&fs.ModeSymlink != 0 { // os.Stat has failed, so it dangles
		return &spec.Problem{On: at.Path, Do: "make the ledger", Why: "it is a link that leads nowhere", Help: "name the file itself with --db"}
	}
	// SQLite would create it readable for others. No O_EXCL: another process may create it too.
	f, err := os.OpenFile(at.Path, os.O_WRONLY|os.O_CREATE|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return &spec.Problem{On: at.Path, Do: "make the ledger", Why: WithoutPath(err), Help: "name another file with --db; its directory must be there"}
	}
	return f.Close()
}

// WithoutPath returns the text of an error of package os without the paths, which a Problem names
// separately.
func WithoutPath(err error) string {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err.Error()
	case errors.As(err, &l):
		return l.Err.Error()
	}
	return err.Error()
}

// connect opens the file with the pragmas of every connection. It allows one connection,
// which is enough for a process and cannot deadlock with itself.
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

// enableLog switches the database to a write-ahead log, so that readers do not wait for
// writers. A foreign database that is locked keeps its mode. With the log, a commit does
// not wait for the disk: after a crash of the machine the database is intact, and the
// records have what its last rows may lack.
func (l *Ledger) enableLog(own bool) error {
	var mode string
	err := retryLocked(func() error { return l.db.QueryRow("PRAGMA journal_mode").Scan(&mode) })
	if err == nil && mode != "wal" {
		err = retryLocked(func() error { return l.db.QueryRow("PRAGMA journal_mode = WAL").Scan(&mode) })
		if err != nil && !own {
			return nil
		}
	}
	if err == nil && mode == "wal" {
		_, err = l.db.Exec("PRAGMA synchronous = NORMAL")
	}
	return err
}
