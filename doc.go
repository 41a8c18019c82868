// Package sbx runs commands in a sandbox, with the interface of os/exec.
//
//	s, err := spec.Decode("spec.json", text)
//	cmd := sbx.Command(ctx, s, "make", "test")
//	cmd.Dir = "/srv/app"
//	out, err := cmd.Output()
//	if r := (*sbx.Refused)(nil); errors.As(err, &r) {
//		// this host cannot enforce what the spec asks for: nothing ran
//	}
//	record, err := cmd.Record()
//
// A Cmd starts the program sbx, which is the sandbox's supervisor. Cmd.Path names it;
// otherwise it is searched for in the directory of the running program and in the PATH. The
// mechanisms of a sandbox (an entry point before Go's, a child that shares memory, a process
// that nobody may trace) stay out of the calling program.
//
// What a spec asks for is enforced, or the command does not start and the error is a
// *Refused. The record says what was enforced and by which mechanism, what was used, and
// what was denied while the command ran. A sandbox ends with its supervisor: a context that
// is cancelled ends the command and all processes that it started. The exception is a spec
// that restricts neither files nor the network: then only the command ends.
//
// docs/reference/go-api.md has more, and the list of the names that are API.
package sbx
