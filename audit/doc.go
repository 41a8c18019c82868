// Package audit keeps the effective record of a run: what the spec requested, what was
// enforced and by which mechanism, what the command used, and what it was denied.
//
// A run uses it as follows:
//
//	sink, err := audit.Open(effective, directory, environ, home, id) // on an error nothing starts
//	err = sink.Write(record)                                         // state "running"
//	… the command starts; a Tap copies an agent's output to the caller, a Follower reads codex's session file …
//	record.Protected, record.Swept = watch.Finish(now), spec.Some(sweep.End()) // see package guard
//	err = sink.Close(record)                                         // state "exited"
//
// A Record is a plain value; AppendJSON turns it into the file's bytes, and
// Parse and Load read them back. Writing happens
// at the start of every sandbox and costs a few dozen microseconds, so the
// package imports only small parts of the standard library.
//
// What always holds:
//
//   - What nobody observed is absent from a record, never 0 or "".
//   - No value of the environment is in it, and no argument that looks like a
//     credential (Redact says how far that goes).
//   - It is written whole or not at all, under a name that is replaced and
//     never followed; its directory is opened once.
//   - No text of it reaches a terminal or a page as anything but text: bytes
//     that are not UTF-8 are written \xNN, control characters and marks that
//     turn the direction of text are escaped.
//
// Paths that are not UTF-8 are written with \xNN for each odd byte, in the
// record and in the list of artifacts. A name that holds these four characters
// itself looks the same; for telling the two apart, the file system is there.
//
// It is no API: see docs/reference/go-api.md.
package audit
