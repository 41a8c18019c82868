// Package dispatch is the ledger of dispatches: one row for each command that
// was sent off under a sandbox, with the contract that was asked for
// (sandbox_spec) and what held in the end (sandbox_effective). It is a SQLite
// database, one of our own or Intercore's, whose table has the same columns.
//
//	at, err := dispatch.Find(named, project, stateDir)
//	ledger, err := dispatch.Open(at, dispatch.Write)
//	err = ledger.Insert(&row)
//	err = ledger.Progress(row.ID, dispatch.Counts{Commands: spec.Some(3)})
//	ended, err := ledger.End(row.ID, dispatch.End{Status: dispatch.Completed, Effective: record})
//
// What the columns are, which database may be used and what must be done to it
// first are values: the table columns, and Decide, which is pure. package life
// runs what the rows are about.
//
// What always holds:
//
//   - Each change of a row is one transaction that begins with BEGIN IMMEDIATE.
//   - sandbox_spec is written once, by Insert, byte for byte as it was given.
//   - sandbox_effective is set once, together with a terminal status or after
//     it. In a ledger of our own triggers hold both, whoever writes; in a
//     foreign one, where nothing is added but the two columns, it is the
//     condition of the statement.
//   - A database that we did not make is copied before it is changed for the
//     first time, and only ever gains the two columns (and, at version 17, the
//     version that stands for them).
//   - What a foreign database holds in a column may be of any type: it is read
//     as text or as a number where it is one, and never trusted as a path.
//
// It is no API: see docs/reference/go-api.md.
package dispatch
