// Package run is one run of a command under a SandboxSpec, as three values:
//
//	Ask ─► Prepare ─► Prepared ─► Start, Go ─► Started ─► Wait ─► Ended
//
// Prepared has the Plan, Started the command, Ended the exit status and the record. Each may
// end in a refusal, which is an Ended, too. The package does not know command lines and
// prints nothing: the caller's Reporter prints.
package run
