package dispatch

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sbx/spec"
)

// migrate makes the Change that the database needs. It decides anew within its
// transaction, since another process may have made the change meanwhile. A foreign
// database is copied first, while the transaction keeps others from changing it.
func (l *Ledger) migrate(path string) (Facts, error) {
	var after Facts
	err := l.change("bring the ledger up to date", func(tx *sql.Tx) error {
		before, err := readFacts(tx)
		if err != nil {
			return err
		}
		change, err := Decide(path, before)
		if err != nil {
			return err
		}
		if !change.None() && !before.Own && !before.Empty && l.Backup == "" {
			if l.Backup, err = backup(path, before.Version); err != nil {
				return err
			}
		}
		for _, step := range change.steps() {
			if _, err := tx.Exec(step); err != nil && !strings.Contains(err.Error(), "duplicate column name") {
				return err
			}
		}
		after, err = readFacts(tx)
		return err
	})
	return after, err
}

// steps returns the statements of a change.
func (c Change) steps() []string {
	var steps []string
	if c.Make {
		steps = append(ownSteps(), "PRAGMA application_id = "+strconv.Itoa(application), "PRAGMA user_version = "+strconv.Itoa(ownVersion))
	}
	for _, name := range c.Add {
		steps = append(steps, "ALTER TABLE dispatches ADD COLUMN "+name+" TEXT")
	}
	if c.Version != 0 {
		steps = append(steps, "PRAGMA user_version = "+strconv.Itoa(c.Version))
	}
	return steps
}

// backup copies the database, including its write-ahead log, to a new file next to it with
// the same permissions.
func backup(path string, version int) (to string, err error) {
	cannot := func(why string) error {
		return &spec.Problem{On: path, Do: "copy the ledger before its first change", Why: why,
			Help: "make room next to it, or let its owner bring it up to date (ic init)"}
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", cannot(WithoutPath(err))
	}
	name := path + ".sbx-backup-v" + strconv.Itoa(version) + "-" + time.Now().UTC().Format("20060102T150405Z")
	to = name
	for n := 2; ; n++ {
		f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, info.Mode().Perm())
		if err == nil {
			_ = f.Chmod(info.Mode().Perm()) // regardless of the umask
			_ = f.Close()
			break
		}
		if !errors.Is(err, fs.ErrExist) || n > 100 {
			return "", cannot(WithoutPath(err))
		}
		to = name + "-" + strconv.Itoa(n)
	}
	db, err := connect(path, "mode=ro")
	if err == nil {
		_, err = db.Exec("VACUUM INTO ?", to)
		_ = db.Close()
	}
	if err != nil {
		_ = os.Remove(to)
		if p, ok := problemOf(path, "", err).(*spec.Problem); ok {
			return "", cannot(p.Why)
		}
		return "", cannot(err.Error())
	}
	return to, nil
}
