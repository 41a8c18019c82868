// Package run is one run of a command under a SandboxSpec, as three values:
//
//	Ask ─► Prepare ─► Prepared ─► Start, Go ─► Started ─► Wait ─► Ended
//
// Prepared has the Plan, Started the command, Ended the exit status and the record.
// Each may end in a refusal, which is an Ended too. No command line is known here, and
// nothing is printed: a person is told by the caller's Voice.
package run
