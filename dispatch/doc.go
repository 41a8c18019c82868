// Package dispatch is the ledger of dispatches, a SQLite database with one row for each
// command that was started detached under a sandbox. The row holds the requested sandbox
// (sandbox_spec) and the record of what was enforced (sandbox_effective). The database is
// either made by sbx (an own ledger) or Intercore's (a foreign one), whose table has the
// same columns.
//
//	at, err := dispatch.Find(named, project, stateDir)
//	ledger, err := dispatch.Open(at, dispatch.Write)
//	err = ledger.Insert(&row)
//	err = ledger.Progress(row.ID, dispatch.Counts{Commands: spec.Some(3)})
//	err = ledger.End(row.ID, dispatch.End{Status: dispatch.Completed, Effective: record})
//
// The variable columns lists the columns. The pure function Decide returns whether a
// database can be used and how it must be changed first. Package life runs the commands.
//
// Invariants:
//
//   - Each change of a row is one transaction that begins with BEGIN IMMEDIATE.
//   - sandbox_spec is written once, by Insert, byte for byte as it was given.
//   - sandbox_effective is set once, together with a terminal status or after it. In an
//     own ledger triggers enforce both rules for every writer. In a foreign one, to which
//     only the two columns are added, the conditions of the statements do.
//   - A foreign database is copied before its first change. It gains only the two columns
//     and, at version 17, the version number that goes with them.
//   - A foreign database may hold a value of any type in any column. It is read as text,
//     or as a number if it is one, and is never trusted as a path.
//
// The package is not part of the public API: see docs/reference/go-api.md.
package dispatch
