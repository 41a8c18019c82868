package dispatch

import (
	"fmt"
	"strconv"

	"sbx/spec"
)

// Facts describes a database before it is used.
type Facts struct {
	Own     bool     // its application_id is that of own ledgers
	Version int      // PRAGMA user_version
	Empty   bool     // it has no table and neither application_id nor version
	Columns []string // of the table dispatches; nil without such a table
}

// Change describes how a database must be changed before it can be used. The zero Change
// means not at all.
type Change struct {
	Make    bool     // make it an own ledger, or update an older one
	Add     []string // columns to add to a foreign one
	Version int      // the new version; 0 to keep the present one
}

// None reports whether nothing must be changed.
func (c Change) None() bool { return !c.Make && len(c.Add) == 0 && c.Version == 0 }

// Decide returns the change that a database needs, or why it cannot be used. A foreign
// database of an Intercore version before the two columns gains them. A newer one must
// have all needed columns already, whatever its version.
func Decide(path string, f Facts) (Change, error) {
	switch {
	case f.Own:
		return decideOwn(path, f)
	case f.Empty:
		return Change{Make: true}, nil
	case f.Columns == nil:
		return Change{}, refuse(path, "it has no table dispatches", "name another file with --db, or let its owner bring it up to date (ic init)")
	case f.Version < foreignOldest:
		return Change{}, refuse(path, fmt.Sprintf("its version is %d, and a ledger of dispatches begins at %d", f.Version, foreignOldest),
			"let its owner bring it up to date (ic init), or name another file with --db")
	}
	for _, c := range keyColumns {
		if !hasName(f.Columns, c.name) {
			return Change{}, lacks(path, f, c.name)
		}
	}
	for _, c := range columns {
		if c.needed && !hasName(f.Columns, c.name) {
			return Change{}, lacks(path, f, c.name)
		}
	}
	var c Change
	for _, name := range []string{specColumn, effectiveColumn} {
		if hasName(f.Columns, name) {
			continue
		}
		if f.Version >= foreignWith {
			return Change{}, lacks(path, f, name)
		}
		c.Add = append(c.Add, name)
	}
	if f.Version == foreignBefore {
		c.Version = foreignWith
	}
	return c, nil
}

func decideOwn(path string, f Facts) (Change, error) {
	if f.Version > ownVersion {
		return Change{}, refuse(path, "its version is "+strconv.Itoa(f.Version)+", and this program knows "+strconv.Itoa(ownVersion),
			"use the sbx-dispatch that made it, or a newer one")
	}
	if f.Version < ownVersion || f.Columns == nil {
		return Change{Make: true}, nil
	}
	for _, c := range columns {
		if !hasName(f.Columns, c.name) {
			return Change{}, lacks(path, f, c.name)
		}
	}
	return Change{}, nil
}

func lacks(path string, f Facts, name string) error {
	return refuse(path, fmt.Sprintf("its table dispatches (version %d) has no column %s", f.Version, name),
		"let its owner bring it up to date (ic init), or name another file with --db")
}

func refuse(path, why, help string) error {
	return &spec.Problem{On: path, Do: "use it as a ledger", Why: why, Help: help}
}
