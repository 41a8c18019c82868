package dispatch

import (
	"fmt"
	"strconv"

	"sbx/spec"
)

// Facts are what there is to know of a database before it is used.
type Facts struct {
	Own     bool     // the header has our mark
	Version int      // PRAGMA user_version
	Empty   bool     // there is nothing in it, not even a mark
	Columns []string // of the table dispatches; nil where there is no such table
}

// Change is what must be done to a database before it can be used. The zero
// Change is nothing.
type Change struct {
	Make    bool     // make it a ledger of our own, or bring one up to date
	Add     []string // columns that a foreign one gains
	Version int      // the version that it then has; 0: the one it has
}

// None tells whether there is nothing to do.
func (c Change) None() bool { return !c.Make && len(c.Add) == 0 && c.Version == 0 }

// Decide tells what a database needs, or why it cannot be used. A database of
// another's is judged by its version where that is Intercore's from before the
// two columns, and by its columns alone from there on.
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
	for _, c := range first {
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
