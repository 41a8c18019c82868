package launch

import (
	"sbx/internal/sys"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// signalPipe is the pipe to which noteSignal writes, childEvent the eventfd of noteChild, and
// oneEvent the number that noteChild writes. They are package variables since a handler gets
// no argument of ours.
var (
	signalPipe uint64
	childEvent uint64
	oneEvent   uint64 = 1
)

func handlerAddresses() (note, ignore, restorer uintptr)

func childHandler() uintptr

// sigaction is the kernel's struct sigaction (<asm/signal.h>).
type sigaction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

// The flags of sigaction(2).
const (
	saSiginfo  = 0x00000004
	saRestorer = 0x04000000
	saOnStack  = 0x08000000
	saRestart  = 0x10000000
)

// endingSignals are the signals by which a person or a service manager ends a program.
const endingSignals = 1<<(unix.SIGHUP-1) | 1<<(unix.SIGINT-1) | 1<<(unix.SIGQUIT-1) | 1<<(unix.SIGTERM-1)

// Catch handles every signal that is forwarded, and returns the descriptor from which they are
// read. Signals that end a program still end this one until CatchEnding is called, since reading a
// document may block. A signalfd is not possible: the Go runtime unblocks HUP, INT, QUIT and TERM
// in each of its threads, where they would end the program.
func Catch() (int, error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return -1, err
	}
	signalPipe = uint64(ends[1])
	for sig := uintptr(1); sig <= 64; sig++ {
		switch bit := uint64(1) << (sig - 1); {
		case forwarded&bit == 0:
		case endingSignals&^Inherited().Ignored&bit != 0:
			setDefault(sig) // the runtime's handler of QUIT would print stacks
		default:
			handle(sig)
		}
	}
	handleInterrupt()
	handleWith(uintptr(unix.SIGABRT), abandonHandler()) // the runtime's handler would print stacks
	setDefault(uintptr(unix.SIGCHLD))                   // not used, and the runtime's handler takes time
	unblock(forwarded)
	return ends[0], nil
}

// CatchEnding handles the signals for which Catch left the default action.
func CatchEnding() {
	for sig := uintptr(1); sig <= 64; sig++ {
		if endingSignals&(uint64(1)<<(sig-1)) != 0 {
			handle(sig)
		}
	}
}

// Children returns a descriptor that becomes readable with every SIGCHLD: when a child ends,
// and when a traced process stops. It is an eventfd rather than Catch's pipe: so many may
// come that a full pipe would lose signals to be forwarded. There is one for the whole
// process, and it is never closed, since the handler would write to the file that gets its
// number.
func Children() (int, error) {
	if childEvent != 0 {
		return int(childEvent), nil
	}
	fd, err := sys.Event()
	if err != nil {
		return -1, err
	}
	childEvent = uint64(fd)
	handleWith(uintptr(unix.SIGCHLD), childHandler())
	unblock(1 << (unix.SIGCHLD - 1))
	return fd, nil
}

// handle installs noteSignal as the handler of sig.
func handle(sig uintptr) {
	note, _, _ := handlerAddresses()
	handleWith(sig, note)
}

func handleWith(sig, handler uintptr) {
	_, _, restorer := handlerAddresses()
	setAction(sig, &sigaction{handler: handler, flags: saSiginfo | saOnStack | saRestart | saRestorer, restorer: restorer, mask: forwarded})
}

func setAction(sig uintptr, act *sigaction) {
	syscall.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(act)), 0, 8, 0, 0)
}

// Interrupt is the signal that interrupts a system call of this process. It was meant for
// coprocessor stack faults and no kernel sends it; sbx does not forward it. Go leaves it
// unblocked in every thread. A real-time signal would not do: the number of pending ones is
// limited for all of a user's processes, and a sandbox could use them up.
const Interrupt = unix.SIGSTKFLT

// handleInterrupt makes Interrupt interrupt a call and do nothing else.
func handleInterrupt() {
	_, ignore, restorer := handlerAddresses()
	setAction(uintptr(Interrupt), &sigaction{handler: ignore, flags: saSiginfo | saOnStack | saRestorer, restorer: restorer})
}

// setDefault gives sig its default disposition.
func setDefault(sig uintptr) { setAction(sig, &sigaction{}) }

// siginfo is the beginning of siginfo_t for a signal sent by a process (sigaction(2)).
type siginfo struct {
	signo, errno, code, _ int32
	pid, uid              int32
	_                     [104]byte
}

// signalInfo reads one signal from Catch's descriptor.
func signalInfo(fd int) (siginfo, bool) {
	var si siginfo
	n, _, e := syscall.Syscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&si)), unsafe.Sizeof(si))
	return si, e == 0 && n == unsafe.Sizeof(si)
}

// pendingSignals returns how many signals wait to be read.
func pendingSignals(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n / int(unsafe.Sizeof(siginfo{}))
}

// currentMask returns this thread's signal mask.
func currentMask() uint64 {
	var old [2]uint64
	sigmask(unix.SIG_SETMASK, nil, &old)
	return old[0]
}

// siKernel is si_code for a signal that the kernel itself sent, mostly for a terminal
// (sigaction(2)).
const siKernel = 0x80

// forwarded are the signals that a supervisor forwards, bit n-1 is signal n. Not forwarded
// are KILL, STOP and CHLD, the synchronous SEGV BUS FPE ILL TRAP SYS ABRT, which the Go
// runtime needs, URG, with which the runtime signals itself, and Interrupt.
const forwarded = 0xffffffffbfba7a07

// sigmask changes the thread's signal mask without the Go runtime, which keeps its own idea of
// the
// mask. how is SIG_BLOCK, SIG_UNBLOCK or SIG_SETMASK.
func sigmask(how int, set, old *[2]uint64) {
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, uintptr(how), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), 8, 0, 0)
}

// unblock unblocks signals of the calling thread, bit n-1 is signal n.
func unblock(signals uint64) {
	sigmask(unix.SIG_UNBLOCK, &[2]uint64{signals}, nil)
}

// DieOf ends this process by a signal, without a core file. It returns if the caller had the
// signal ignored.
func DieOf(sig unix.Signal) {
	if Inherited().Ignored&(1<<(sig-1)) != 0 {
		return
	}
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // RLIMIT_CORE 0 has no effect if core_pattern is a pipe
	setDefault(uintptr(sig))
	unblock(1 << (sig - 1))
	unix.Tgkill(unix.Getpid(), unix.Gettid(), sig)
}
