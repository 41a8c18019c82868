package launch

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The functions of this file run in a cloned child that shares the
// supervisor's memory, on a stack of 32 KiB, in a process that the Go runtime
// knows nothing of. They may not allocate, grow the stack, block in the
// scheduler, panic, or write to memory that the supervisor reads, except
// through the program that they were given.

// cloneChild is clone(2) with a new stack; the child runs childMain(p) and never returns.
// With CLONE_PIDFD in flags the kernel writes the descriptor to *pidfd. The result is the
// child's pid or a negative errno.
//
//go:noescape
func cloneChild(flags, stack uintptr, pidfd *int32, p *program) (pid uintptr)

// childMain runs p's steps in order, and ends the process if one fails. Its last step does
// not return.
//
//go:nosplit
//go:noinline
//go:norace
func childMain(p *program) {
	n := len(p.ops)
	for i := 0; i < n; i++ {
		o := &p.ops[i]
		var r uintptr
		var e syscall.Errno
		switch o.do {
		case DoCall:
			r, e = p.call(o)
		case DoMapped:
			e = p.await()
		case DoNext:
			if e = p.await(); e == 0 {
				p = p.next
				i, n = -1, len(p.ops)
				continue
			}
		case DoSpawn:
			r = cloneChild(p.flags, p.stack, &p.pidfd, p.spawn)
			if int(r) < 0 {
				e = syscall.Errno(-int(r))
			}
		case DoStarted:
			p.rep.kind = reportStarted
			p.tell()
		case DoDefault:
			p.defaultSignals(uint64(o.a[0]))
		case DoReady:
			e = p.ready()
		case DoParent:
			e = p.orphaned()
		case DoReap:
			p.reap(p.slots[o.save])
		case DoEach:
			e = p.remountEach(o, i)
		case DoOne:
			e = p.remountOne(o)
		}
		if e != 0 {
			switch {
			case uintptr(e) == o.expected, o.expected == uintptr(anyErrno):
			case o.tolerant:
				p.blame(i, e)
			default:
				p.fail(i, e)
			}
			i += int(o.skip)
			continue
		}
		if o.save != 0 {
			p.slots[o.save] = r
		}
	}
	syscall.RawSyscall(unix.SYS_EXIT_GROUP, 125, 0, 0)
}

//go:nosplit
//go:norace
func (p *program) call(o *op) (uintptr, syscall.Errno) {
	a := &o.a
	var v [6]uintptr
	for k := 0; k < 6; k++ {
		v[k] = a[k]
		if o.ref&(1<<k) != 0 {
			v[k] = p.slots[v[k]&63]
		}
	}
	if o.patch != 0 {
		*o.patchAt = int32(p.slots[o.patch&63])
	}
	r, _, e := syscall.RawSyscall6(o.nr, v[0], v[1], v[2], v[3], v[4], v[5])
	if o.nr == unix.SYS_CLOSE && o.ref == 1 {
		p.slots[a[0]&63] = emptySlot
	}
	return r, e
}

// tell sends the report. If the supervisor is gone the error does not matter: its death
// ends pid 1.
//
//go:nosplit
//go:norace
func (p *program) tell() {
	syscall.RawSyscall6(unix.SYS_SENDTO, p.sock, uintptr(unsafe.Pointer(&p.rep)), reportSize, unix.MSG_NOSIGNAL, 0, 0)
}

//go:nosplit
//go:norace
func (p *program) fail(i int, e syscall.Errno) {
	p.blame(i, e)
	syscall.RawSyscall(unix.SYS_EXIT_GROUP, 125, 0, 0)
}

// blame reports which step failed.
//
//go:nosplit
//go:norace
func (p *program) blame(i int, e syscall.Errno) {
	p.rep.kind = p.failed
	p.rep.index = int32(i)
	p.rep.value = int64(e)
	p.tell()
}

// ready reports that the setup is complete, and waits for the message to go on.
//
//go:nosplit
//go:norace
func (p *program) ready() syscall.Errno {
	p.rep.kind = reportReady
	p.rep.index = -1
	p.rep.value = int64(p.slots[slotListener]) // for a supervisor that does not share this memory
	if p.pidfdFrom != nil {
		p.rep.index = *p.pidfdFrom
	}
	p.tell()
	return p.await()
}

// orphaned returns ESRCH if the supervisor is gone.
//
//go:nosplit
//go:norace
func (p *program) orphaned() syscall.Errno {
	pf := unix.PollFd{Fd: p.parent, Events: unix.POLLIN}
	var now unix.Timespec
	n, _, e := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&pf)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
	if e == 0 && n > 0 {
		return syscall.ESRCH
	}
	return e
}

// await waits for one packet of the supervisor. It waits at most a minute, for kernels on
// which orphaned has no pidfd: the supervisor may have died before the child asked the kernel
// to
// kill it then.
//
//go:nosplit
//go:norace
func (p *program) await() syscall.Errno {
	pf := unix.PollFd{Fd: int32(p.sock), Events: unix.POLLIN}
	ts := unix.Timespec{Sec: 60}
	n, _, e := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&pf)), 1, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	if e != 0 {
		return e
	}
	if n == 0 {
		return syscall.ETIMEDOUT
	}
	var b [8]byte
	n, _, e = syscall.RawSyscall6(unix.SYS_RECVFROM, p.sock, uintptr(unsafe.Pointer(&b)), 8, 0, 0, 0)
	if e == 0 && n == 0 {
		return syscall.EPIPE
	}
	return e
}

// defaultSignals gives every signal its default disposition except those that the caller
// ignored: the Go runtime's handlers must not run here once the signal mask is restored.
// The dispositions are this process's own (no CLONE_SIGHAND).
//
//go:nosplit
//go:norace
func (p *program) defaultSignals(ignored uint64) {
	var sa [4]uintptr // struct kernel_sigaction: handler, flags, restorer, mask
	for s := uintptr(1); s <= 64; s++ {
		sa[0] = 0 // SIG_DFL
		if ignored&(1<<(s-1)) != 0 {
			sa[0] = 1 // SIG_IGN
		}
		syscall.RawSyscall6(unix.SYS_RT_SIGACTION, s, uintptr(unsafe.Pointer(&sa)), 0, 8, 0, 0)
	}
}

// reap is the rest of pid 1's life: it waits for every child, and reports when the command
// stops. When the command has ended it reports the exit status and the resource usage, and
// exits, which ends every process of the namespace (pid_namespaces(7)).
//
//go:nosplit
//go:norace
func (p *program) reap(command uintptr) {
	for {
		r, _, e := syscall.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&p.status)), unix.WALL|unix.WUNTRACED, 0, 0, 0)
		if e == syscall.EINTR {
			continue
		}
		if e != 0 {
			syscall.RawSyscall(unix.SYS_EXIT_GROUP, 125, 0, 0)
		}
		if r != command {
			continue
		}
		if p.status&0xff == 0x7f { // WIFSTOPPED
			p.rep.kind = reportStopped
			p.rep.value = int64(p.status)
			p.tell()
			continue
		}
		p.rep.index = p.reapRest()
		syscall.RawSyscall(unix.SYS_GETRUSAGE, ^uintptr(0), uintptr(unsafe.Pointer(&p.rusage)), 0) // RUSAGE_CHILDREN
		p.rep.kind = reportExited
		p.rep.value = int64(p.status)
		p.rep.user = p.rusage[0]*1e6 + p.rusage[1]
		p.rep.system = p.rusage[2]*1e6 + p.rusage[3]
		p.rep.maxrss = p.rusage[4]
		p.rep.read, p.rep.wrote = p.rusage[11], p.rusage[12]
		p.tell()
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
}

// reapRest reaps the children that have ended, and returns reportAllGone if those were all.
// The kernel makes every orphan of a pid namespace a child of its pid 1. So if pid 1 has no
// child left, the namespace has no other process: wait(2) then returns ECHILD, and never
// does while there is one, even if it is traced. A process that can be reaped has closed its
// files.
//
//go:nosplit
//go:norace
func (p *program) reapRest() int32 {
	for {
		r, _, e := syscall.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), 0, unix.WALL|unix.WNOHANG, 0, 0, 0)
		switch {
		case e == syscall.ECHILD:
			return reportAllGone
		case e == syscall.EINTR, e == 0 && r != 0:
			continue
		}
		return 0
	}
}
