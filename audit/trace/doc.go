// Package trace counts programs by ptrace(2): it is the tracer of the command
// and of every process and thread that descends from it.
//
//	t, err := trace.Attach(pid, &ledger, trace.Options{Wake: fd})
//	// then, whenever fd is readable: t.Event()
//
// What stops, and what becomes of it:
//
//   - execve and execveat stop at their entry, by a filter (seccomp.Traced)
//     that the command loads before its exec. There the ledger is asked. What
//     it refuses gets EPERM and never reaches the kernel's exec.
//   - An exec that succeeded shows as PTRACE_EVENT_EXEC and stays charged. One
//     that failed shows at the call's exit, one whose process was killed at its
//     end: the charge is taken back. So what is charged is what ran, exactly.
//   - fork, vfork and clone stop for a moment, since that is how the kernel
//     makes the child a tracee before its first instruction.
//   - Signals are handed on as they came. A stopped process stays stopped
//     (PTRACE_LISTEN), and its parent sees it as it would untraced.
//   - ptrace(2) gets EPERM: a process has one tracer, and this is it.
//
// Nothing else stops; PTRACE_SYSCALL is used for the one call under way only.
//
// Invariants:
//
//   - Nobody runs a program uncounted. A child that is not traced
//     (CLONE_UNTRACED) gets ENOSYS from exec, as seccomp.Traced says; nobody
//     but this tracer can let such a call through.
//   - No process outlives the tracer (PTRACE_O_EXITKILL, Linux 3.8).
//   - The tracer waits for nobody and looks nothing up: no file system that
//     the sandbox may hold up, no lock that an exec under way may hold. Whether
//     a program is there at all, where the budget is used up, the process asks
//     the kernel itself, in place of its exec.
//   - Each request may find its process killed (ESRCH). Then there is nothing
//     to do: its end is a status of its own.
//
// ptrace's requests must come from the thread that attached, and one thread
// waits for all children; so a Tracer belongs to the supervisor's thread, and
// hands the ends of children that it was not asked for to Options.Reaped.
//
// Sources: ptrace(2), seccomp(2), wait(2), kernel/ptrace.c, fs/exec.c. Linux
// 5.3 is needed (PTRACE_GET_SYSCALL_INFO).
package trace
