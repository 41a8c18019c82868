package listen

import (
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"sbx/seccomp"
)

// helpers are threads that make calls which last as long as the sandbox likes. The Go
// runtime knows nothing of them: where it can start no thread, because processes have
// run out, it ends the program, and here that is an errno. One is started when there
// is work that no other is free for, and stays.
type helpers struct {
	most    int               // threads
	signals uint64            // what they have unblocked, bit n-1 is signal n
	jobs    [2]int            // a pipe of pointers to pending connects; zero before open
	under   []*pendingConnect // handed over; keeps what the threads use from the collector
	threads [][]byte          // their stacks
	crowded bool              // all places were taken, and none was given up
}

// threadStack is what a thread needs: a few calls deep, and a signal's frame.
const threadStack = 16 << 10

// threadFlags are those of a thread of this process.
const threadFlags = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_SYSVSEM

// The states of a pending connect.
const (
	underWay uint32 = iota
	refused         // by the network: to be told of and answered by Tick
	over            // its thread does not touch it any more
)

// pendingConnect is a job for a helper thread: to connect on behalf of a caller, or only
// to close descriptors.
type pendingConnect struct {
	id       uint64 // the notification; 0 for none: only close the descriptors
	tid      uint32 // the caller
	listener int
	sock     int // a copy of the caller's socket
	domain   int
	at       int // the file that address leads to; -1 for none
	address  address
	target   string // reported if the network denies the connect; "" for no report
	action   string // of that report
	clock    int    // the timerfd that wakes Tick
	unmade   func() // called once the connect has failed; nil for nothing

	state     uint32
	thread    uint32 // the helper's while it connects; 0 before and after
	cancelled uint32 // 1: the caller no longer waits
	errno     unix.Errno
}

// open makes the pipe.
func (h *helpers) open() bool {
	return h.jobs[1] != 0 || unix.Pipe2(h.jobs[:], unix.O_CLOEXEC) == nil
}

// count is how many pending connects are not over.
func (h *helpers) count() int {
	h.under = slices.DeleteFunc(h.under, func(f *pendingConnect) bool {
		if atomic.LoadUint32(&f.state) != over {
			return false
		}
		if f.unmade != nil && f.errno != 0 && f.errno != unix.EINPROGRESS {
			f.unmade()
		}
		return true
	})
	return len(h.under)
}

// maxRounds is how often helpers are let run, for a millisecond or more, before those that
// have all places are taken to wait for the sandbox.
const maxRounds = 100

// hasPlace tells whether one more may be handed over. Where many come at once, the
// helpers may only not have had their turn: it waits until one gives up its place. If none
// does, nobody waits for that again before one has. settle gives up those that it can.
func (h *helpers) hasPlace(places int, settle func()) bool {
	for rounds := 0; h.count() >= places; rounds++ {
		if settle(); h.count() < places {
			break
		}
		if h.crowded = h.crowded || rounds == maxRounds; h.crowded {
			return false
		}
		_, _ = unix.Poll(nil, 1)
	}
	h.crowded = false
	return true
}

// staff sees to it that there is a thread for each of n, as far as threads
// may be had.
func (h *helpers) staff(n int) unix.Errno {
	if n <= len(h.threads) || len(h.threads) == h.most {
		return 0
	}
	stack := make([]byte, threadStack)
	top := (uintptr(unsafe.Pointer(&stack[0])) + threadStack) &^ 15
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, old unix.Sigset_t // Go's handlers must not run there
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &old); err != nil {
		return errno(err)
	}
	r := int(cloneThread(threadFlags, top, h))
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	if r < 0 {
		return unix.Errno(-r)
	}
	h.threads = append(h.threads, stack)
	return 0
}

// put hands one over. The pipe has room for many more than there may be.
func (h *helpers) put(f *pendingConnect) {
	h.under = append(h.under, f)
	at := uintptr(unsafe.Pointer(f))
	_, _ = unix.Write(h.jobs[1], unsafe.Slice((*byte)(unsafe.Pointer(&at)), unsafe.Sizeof(at)))
}

//go:noescape
func cloneThread(flags, stack uintptr, h *helpers) (tid uintptr)

// threadMain is a helper's life. It and what it calls may not allocate, grow the
// stack, block in the scheduler or panic: no goroutine runs here.
//
//go:nosplit
//go:noinline
//go:norace
func threadMain(h *helpers) {
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_UNBLOCK, uintptr(unsafe.Pointer(&h.signals)), 0, 8, 0, 0)
	tid, _, _ := syscall.RawSyscall(unix.SYS_GETTID, 0, 0, 0)
	for {
		var f *pendingConnect
		n, _, e := syscall.RawSyscall(unix.SYS_READ, uintptr(h.jobs[0]), uintptr(unsafe.Pointer(&f)), unsafe.Sizeof(f))
		switch {
		case e == unix.EINTR:
		case e != 0 || n != unsafe.Sizeof(f):
			syscall.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
		default:
			f.fly(uint32(tid))
		}
	}
}

// fly makes the call, closes the copies and answers. The copies are closed first, so
// that the caller's own socket is the last one when it goes on, and the place given up
// after that: to close the last one may take its time.
//
//go:nosplit
//go:norace
func (f *pendingConnect) fly(thread uint32) {
	id, listener := f.id, f.listener
	e := unix.Errno(0)
	if id != 0 {
		atomic.StoreUint32(&f.thread, thread)
		// Another signal than the one that cancels means nothing.
		for e = unix.EINTR; e == unix.EINTR && atomic.LoadUint32(&f.cancelled) == 0; {
			_, _, e = syscall.RawSyscall(unix.SYS_CONNECT, uintptr(f.sock), uintptr(unsafe.Pointer(&f.address.b)), uintptr(f.address.n))
		}
		atomic.StoreUint32(&f.thread, 0)
	}
	for _, fd := range [...]int{f.sock, f.at} {
		if fd >= 0 {
			syscall.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
		}
	}
	f.errno = e
	if id != 0 && f.target != "" && unreachable(e) {
		now := unix.ItimerSpec{Value: unix.Timespec{Nsec: 1}}
		clock := uintptr(f.clock)
		atomic.StoreUint32(&f.state, refused)
		syscall.RawSyscall6(unix.SYS_TIMERFD_SETTIME, clock, 0, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
		return
	}
	atomic.StoreUint32(&f.state, over)
	if id != 0 {
		seccomp.RawAnswer(listener, id, e)
	}
}

// unreachable tells whether a network does not lead somewhere.
//
//go:nosplit
//go:norace
func unreachable(e unix.Errno) bool {
	return e == unix.ENETUNREACH || e == unix.EHOSTUNREACH || e == unix.EADDRNOTAVAIL || e == unix.EACCES || e == unix.EPERM
}
