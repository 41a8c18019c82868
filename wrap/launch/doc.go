// Package launch carries out a wrap.Plan. It is the only code that makes
// namespaces and mounts and starts processes.
//
// A Plan becomes a list of Steps: one system call each, with its arguments, in
// the order they are made. Steps is pure, so the list prints and golden tests
// hold it. Start clones a child that shares the supervisor's memory and runs
// the list in an interpreter of a few lines: no second program is started, no
// Go runtime runs inside the sandbox, and nothing there allocates or grows a
// stack. A step that fails crosses the socket as (program, index, errno) and
// is told in the words of its Step.
//
// Processes, with a pid namespace:
//
//	supervisor ── pid 1 (this package's interpreter) ── the command
//
// Pid 1 builds the mount tree, restricts itself as the command is restricted,
// starts the command, and from then on only reaps. It is not dumpable, holds
// no capability and blocks every signal. Its memory is the supervisor's: the
// kernel's ptrace check (ptrace(2), "Ptrace access mode checking") closes it
// to everything inside, since it is not dumpable and belongs to the user
// namespace outside. Without a pid namespace the command is the supervisor's
// own child.
//
// The command starts only when the supervisor has said so, which it does after
// the record is written: the child reports that it is ready, and waits.
//
// What the host replaces loses the mount on it. Process.Renew clones another
// child, which shares no memory (a process that does cannot join a user
// namespace), joins the sandbox's namespaces by descriptors that pid 1 left,
// mounts again what is not mounted, and ends. It runs none of the sandbox's
// code, follows no link, and cannot be seen from inside.
//
// Where the kernel has no mount_setattr(2) the child asks the supervisor which
// mounts to change, since only one of the two may allocate and only the other is
// in the namespace: see Process.remount.
//
// The program's entry point is this package's, see entry_amd64.s: the Go
// runtime changes the caller's signal dispositions and RLIMIT_NOFILE before
// any Go code runs, and a command must get them as they were.
//
// Nothing of this package is API: see docs/reference/go-api.md.
package launch
