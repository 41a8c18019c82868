// Package audit keeps the effective record of a run: what the spec requested, what was enforced and
// by which mechanism, what the command used, and what it was denied.
//
// A run uses it as follows:
//
//	sink, err := audit.Open(effective, directory, environ, home, id) // on an error nothing starts
//	err = sink.Write(record)                                         // state "running"
//	… the command starts; a Tap copies an agent's output to the caller, a Follower reads codex's session file …
//	record.Protected, record.Swept = watch.Finish(now), spec.Some(sweep.End()) // see package guard
//	err = sink.Close(record)                                         // state "exited"
//
// A Record is a plain value. AppendJSON turns it into the bytes of the file; Parse and Load read
// them back. Every start of a sandbox writes a record, which takes a few dozen microseconds, so the
// package imports only small parts of the standard library.
//
// Every record has these properties:
//
//   - A value that nobody observed is absent, never 0 or "".
//   - It contains no value of an environment variable, and no argument that looks like
//     a credential (as far as package redact recognises one).
//   - It is written whole or not at all, by replacing its name, never by following a
//     link; its directory is opened once.
//   - A terminal or a page shows its texts as plain text: bytes that are not UTF-8 are
//     written as \xNN, control characters and marks that change the direction of text
//     are escaped.
//
// Each byte of a path that is not UTF-8 is written as \xNN, in the record and in the list of
// artifacts. A name that contains such four characters looks the same; only the file system
// distinguishes the two.
//
// It is not an API: see docs/reference/go-api.md.
package audit
