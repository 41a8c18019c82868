// Package audit keeps the effective record: what was asked of a sandbox, what
// held and by which mechanism, what was used, what was refused. It also looks
// after what could go wrong beside the kernel's back: files that the host
// replaces under a mount, and protected names that come into being.
//
// One run uses it so:
//
//	sink, err := audit.Open(effective, directory, environ, home, id) // fails: nothing starts
//	held, err := audit.Hold(plan.Watch)
//	err = sink.Write(record)                                      // state "running"
//	… the command starts …
//	sweep := &audit.Sweep{Watch: plan.Watch, Held: held, Known: known, Match: match, Run: sink.Run}
//	watch := audit.NewWatch(plan.Watch, sweep)
//	… a Tap stands between an agent's stdout and the caller's, a Follower reads codex's own file …
//	… watch.Begin once it has run for a while, Drain when watch.FD is readable, sweep.At for what appeared …
//	… while watch.Fallen: Renewing, the mounts are made again, Renewed …
//	record.Protected, record.Swept = watch.Finish(now), spec.Some(sweep.End())
//	err = sink.Close(record)                              // state "exited"
//
// A Record is a plain value; AppendJSON turns it into the file's bytes, and
// Parse, Derive, Show and ShowHTML read them back for people. Writing happens
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
//   - Watch and Sweep begin at descriptors taken at launch, follow no link and
//     enter no other mount. Each walk has a bound on names, directories and time,
//     and says where it was cut.
//   - Nothing here refuses anything: a sweep comes after the fact, which is why
//     the record's line on protected names that are new is "guarded" at best.
//
// Paths that are not UTF-8 are written with \xNN for each odd byte, in the
// record and in the list of artifacts. A name that holds these four characters
// itself looks the same; for telling the two apart, the file system is there.
//
// It is no API: see docs/reference/go-api.md.
package audit
