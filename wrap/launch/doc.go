// Package launch carries out a wrap.Plan. It is the only code that makes namespaces and
// mounts and starts processes.
//
// A Plan becomes a list of Steps: one system call each, with its arguments, in order. Steps
// are pure data, so the list can be printed and compared with golden files. Start clones a
// child that shares the supervisor's memory and runs the list in an interpreter of a few
// lines: no second program is started, no Go runtime runs inside the sandbox, and nothing
// there allocates or grows a stack. If a step fails, the child sends (program, index, errno)
// over the socket, and the error is described from the Step.
//
// Processes, with a pid namespace:
//
//	supervisor ── pid 1 (this package's interpreter) ── the command
//
// Pid 1 builds the mount tree, restricts itself as the command will be restricted, starts
// the command, and from then on only reaps. It is not dumpable, holds no capability and
// blocks every signal. Its memory is the supervisor's. No process inside can read it: the
// kernel's ptrace check (ptrace(2), "Ptrace access mode checking") denies access since pid 1
// is not dumpable and belongs to the outer user namespace. Without a pid namespace the
// command is the supervisor's own child.
//
// The command starts only when the supervisor allows it, which is after the record is
// written: the child reports that it is ready, and waits.
//
// If the host replaces a file or directory, the mount on it is lost. Process.Renew then
// clones another child. It shares no memory, since a process that does cannot join a user
// namespace. It joins the sandbox's namespaces by descriptors that pid 1 left, restores the
// missing mounts, and ends. It runs none of the sandbox's code, follows no symlink, and is
// invisible from inside.
//
// On a kernel without mount_setattr(2) the child asks the supervisor which mounts to
// change: only the supervisor may allocate memory, and only the child is in the namespace.
// See script.remount.
//
// The program's entry point is in this package, see entry_amd64.s: the Go runtime changes
// the caller's signal dispositions and RLIMIT_NOFILE before any Go code runs, and a command
// must inherit the original ones.
//
// Nothing in this package is public API: see docs/reference/go-api.md.
package launch
