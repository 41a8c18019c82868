package listen

import (
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"sbx/internal/sys"
	"sbx/seccomp"
)

// helpers are threads for system calls that the sandbox can make block for any time. They
// are not threads of the Go runtime: if no process can be created, the runtime ends the
// program when it needs a thread, while helpers return an errno. A thread is started when
// there is work and no idle thread, and is never ended.
type helpers struct {
	most    int               // the largest number of threads
	signals uint64            // the signals that the threads unblock, bit n-1 is signal n
	pipe    [2]int            // transfers pointers to pending connects; zero before open
	pending []*pendingConnect // the jobs of the threads; keeps them from the garbage collector
	threads [][]byte          // the stacks
	crowded bool              // hasPlace has waited in vain, see there
}

// threadStack is the size of a stack: for a few nested calls and a signal frame.
const threadStack = 16 << 10

// threadFlags are the clone(2) flags of a thread of this process.
const threadFlags = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_SYSVSEM

// The states of a pending connect.
const (
	underWay uint32 = iota
	refused         // the network denied it; Tick reports and answers it
	over            // its thread does not use it any more
)

// pendingConnect is a job for a helper thread: to connect on behalf of a caller, or only
// to close descriptors.
type pendingConnect struct {
	id       uint64 // the notification; 0 for none: only close the descriptors
	tid      uint32 // the caller
	listener int
	sock     int // a copy of the caller's socket
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

// open creates the pipe unless it exists, and returns false if that fails.
func (h *helpers) open() bool {
	return h.pipe[1] != 0 || unix.Pipe2(h.pipe[:], unix.O_CLOEXEC) == nil
}

// count drops the pending connects that are over and returns the number of the others.
func (h *helpers) count() int {
	h.pending = slices.DeleteFunc(h.pending, func(f *pendingConnect) bool {
		if atomic.LoadUint32(&f.state) != over {
			return false
		}
		if f.unmade != nil && f.errno != 0 && f.errno != unix.EINPROGRESS {
			f.unmade()
		}
		return true
	})
	return len(h.pending)
}

// maxRounds is how often hasPlace waits for a millisecond before it concludes that the
// sandbox blocks all helpers.
const maxRounds = 100

// hasPlace reports whether fewer than places pending connects are left. If there are more
// it calls settle, which ends those that it can, and waits: when many connects come at
// once, the helpers may just not have got processor time yet. If no place becomes free,
// later calls do not wait again until one is free.
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

// addThread starts a thread if there are fewer than n and fewer than most.
func (h *helpers) addThread(n int) unix.Errno {
	if n <= len(h.threads) || len(h.threads) == h.most {
		return 0
	}
	stack := make([]byte, threadStack)
	top := (uintptr(unsafe.Pointer(&stack[0])) + threadStack) &^ 15
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, old unix.Sigset_t // all signals are blocked, as Go's handlers must not run in the thread
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &old); err != nil {
		return sys.Errno(err)
	}
	r := int(cloneThread(threadFlags, top, h))
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	if r < 0 {
		return unix.Errno(-r)
	}
	h.threads = append(h.threads, stack)
	return 0
}

// put hands a pending connect to a thread. The pipe has room for more than hasPlace allows.
func (h *helpers) put(f *pendingConnect) {
	h.pending = append(h.pending, f)
	at := uintptr(unsafe.Pointer(f))
	_, _ = unix.Write(h.pipe[1], unsafe.Slice((*byte)(unsafe.Pointer(&at)), unsafe.Sizeof(at)))
}

//go:noescape
func cloneThread(flags, stack uintptr, h *helpers) (tid uintptr)

// threadMain is the main function of a thread. It runs outside of any goroutine: it and all
// functions that it calls must not allocate, grow the stack, call the scheduler or panic.
//
//go:nosplit
//go:noinline
//go:norace
func threadMain(h *helpers) {
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_UNBLOCK, uintptr(unsafe.Pointer(&h.signals)), 0, 8, 0, 0)
	tid, _, _ := syscall.RawSyscall(unix.SYS_GETTID, 0, 0, 0)
	for {
		var f *pendingConnect
		n, _, e := syscall.RawSyscall(unix.SYS_READ, uintptr(h.pipe[0]), uintptr(unsafe.Pointer(&f)), unsafe.Sizeof(f))
		switch {
		case e == unix.EINTR:
		case e != 0 || n != unsafe.Sizeof(f):
			syscall.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
		default:
			f.run(uint32(tid))
		}
	}
}

// run makes the call, closes the copies of the descriptors, and answers the notification,
// in this order: when the caller continues, its own descriptor must be the only one for
// the socket. The state becomes over only after the close, which may block.
//
//go:nosplit
//go:norace
func (f *pendingConnect) run(thread uint32) {
	id, listener := f.id, f.listener
	e := unix.Errno(0)
	if id != 0 {
		atomic.StoreUint32(&f.thread, thread)
		// It tries again after any other signal than that of a cancelled connect.
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

// unreachable reports whether an errno means that the network does not lead to the address.
//
//go:nosplit
//go:norace
func unreachable(e unix.Errno) bool {
	return e == unix.ENETUNREACH || e == unix.EHOSTUNREACH || e == unix.EADDRNOTAVAIL || e == unix.EACCES || e == unix.EPERM
}
