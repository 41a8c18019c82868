// Package sbx runs commands in a sandbox, as os/exec runs them without.
//
//	s, err := spec.Decode("spec.json", text)
//	cmd := sbx.Command(ctx, s, "make", "test")
//	cmd.Dir = "/srv/app"
//	out, err := cmd.Output()
//	if r := (*sbx.Refused)(nil); errors.As(err, &r) {
//		// the spec asks for what this host cannot hold: nothing ran
//	}
//	record, err := cmd.Record()
//
// A Cmd starts the program sbx, which is the sandbox's supervisor: it is found
// beside the running program or on the PATH, or named by Cmd.Path. What makes a
// sandbox (an entry point before Go's, a child that shares memory, a process
// that nobody may trace) stays out of the calling program.
//
// What a spec asks for is enforced, or the command does not start, and the error
// is a *Refused. The record says what held, by which mechanism, what was used and
// what was refused while the command ran. A sandbox ends with its supervisor: a
// context that is cancelled ends the command and, but for a spec that constrains
// neither files nor the network, all that it started.
//
// docs/reference/go-api.md has more, and the list of the names that are API.
package sbx
