// Package trace counts program starts by ptrace(2). A Tracer traces the command and
// all of its descendants, threads included.
//
//	t, err := trace.Attach(pid, &ledger, trace.Options{Wake: fd})
//	// then, whenever fd is readable: t.Event()
//
// The tracees stop in these cases:
//
//   - At the entry of execve and execveat, because of a filter (seccomp.Traced) that
//     the command loads before its exec. The Tracer charges the program to the ledger.
//     If the ledger denies it, the call returns EPERM and the kernel executes nothing.
//   - After an exec: PTRACE_EVENT_EXEC if it succeeded, the exit of the call if it
//     failed, the end of the process if that was killed. In the last two cases the
//     charge is returned. So the charged programs are exactly those that ran.
//   - At fork, vfork and clone, for a moment: the kernel makes the child a tracee
//     before its first instruction.
//   - At a signal, which the Tracer passes on unchanged. A stopped process stays
//     stopped (PTRACE_LISTEN), and its parent sees the same as without a tracer.
//   - At ptrace(2), which returns EPERM: a process can have only one tracer.
//
// Nothing else stops. PTRACE_SYSCALL is used only for an exec that is in progress.
//
// Invariants:
//
//   - No program runs uncounted. In a child that is not traced (CLONE_UNTRACED), exec
//     returns ENOSYS (see seccomp.Traced): only this tracer can let the call continue.
//   - No process outlives the tracer (PTRACE_O_EXITKILL, Linux 3.8).
//   - The tracer never blocks while it handles a stop: it looks nothing up in a file
//     system that the sandbox may stall, and takes no lock that an exec in progress may
//     hold. Once the budget is used up, the process itself asks the kernel whether the
//     program exists, by a call that the tracer puts in place of the exec.
//   - Any request may find its process killed (ESRCH). The tracer then does nothing,
//     since wait(2) reports the end of that process separately.
//
// ptrace requests must come from the thread that attached, and one thread waits for all
// children. So a Tracer belongs to one thread, and passes the ends of all children of the
// supervisor to Options.Reaped.
//
// Sources: ptrace(2), seccomp(2), wait(2), kernel/ptrace.c, fs/exec.c. Linux
// 5.3 is needed (PTRACE_GET_SYSCALL_INFO).
package trace
