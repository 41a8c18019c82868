package launch

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// signalPipe is the pipe that noteSignal writes to, childEvent the eventfd of
// noteChild, and oneEvent what that writes. Handlers can take no argument, so
// these are the variables of the package.
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

// endsBy are the signals by which a person or a supervisor ends a program.
const endingSignals = 1<<(unix.SIGHUP-1) | 1<<(unix.SIGINT-1) | 1<<(unix.SIGQUIT-1) | 1<<(unix.SIGTERM-1)

// Catch takes over every signal that is forwarded and returns the descriptor on
// which noted ones are read. Those that end a program still end this one, until
// CatchEnding: a document may be waited for. A signalfd would not do: the Go runtime unblocks
// HUP, INT, QUIT and TERM in each of its threads, where they would end the
// program.
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
			setDefault(sig) // the runtime's handler of QUIT prints its stacks
		default:
			handle(sig)
		}
	}
	handleInterrupt()
	handleWith(uintptr(unix.SIGABRT), abandonHandler()) // who sends it need not wait for stacks
	setDefault(uintptr(unix.SIGCHLD))                   // nobody asks for it, and the runtime's handler costs
	set := [2]uint64{forwarded}
	sigmask(unix.SIG_UNBLOCK, &set, nil)
	return ends[0], nil
}

// CatchEnding takes over the rest of what Catch is for.
func CatchEnding() {
	for sig := uintptr(1); sig <= 64; sig++ {
		if endingSignals&(uint64(1)<<(sig-1)) != 0 {
			handle(sig)
		}
	}
}

// Children returns a descriptor that becomes readable with every SIGCHLD: when
// a child ends, and when a process stops that this one traces. It is an eventfd,
// not Catch's pipe, since there may be so many that a full pipe would lose what
// is to be forwarded. It is one for the whole process, and never closed: the
// handler would write to what gets its number.
func Children() (int, error) {
	if childEvent != 0 {
		return int(childEvent), nil
	}
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return -1, err
	}
	childEvent = uint64(fd)
	handleWith(uintptr(unix.SIGCHLD), childHandler())
	set := [2]uint64{1 << (unix.SIGCHLD - 1)}
	sigmask(unix.SIG_UNBLOCK, &set, nil)
	return fd, nil
}

// handle makes noteSignal the handler of sig.
func handle(sig uintptr) {
	note, _, _ := handlerAddresses()
	handleWith(sig, note)
}

func handleWith(sig, handler uintptr) {
	_, _, restorer := handlerAddresses()
	act := sigaction{handler: handler, flags: saSiginfo | saOnStack | saRestart | saRestorer, restorer: restorer, mask: forwarded}
	syscall.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&act)), 0, 8, 0, 0)
}

// Interrupt is the signal that ends a system call of this process's. It was for
// stack faults of a coprocessor, and no kernel sends it; it is not forwarded. Go
// leaves it unblocked in every thread. Of the real-time signals, only so many
// wait for all of a user's processes, which a sandbox could use up.
const Interrupt = unix.SIGSTKFLT

// interrupts has Interrupt end a call and nothing else.
func handleInterrupt() {
	_, ignore, restorer := handlerAddresses()
	act := sigaction{handler: ignore, flags: saSiginfo | saOnStack | saRestorer, restorer: restorer}
	syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(Interrupt), uintptr(unsafe.Pointer(&act)), 0, 8, 0, 0)
}

// byDefault gives sig its default disposition.
func setDefault(sig uintptr) {
	var act sigaction
	syscall.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&act)), 0, 8, 0, 0)
}

// siginfo is the beginning of siginfo_t for a signal that was sent
// (sigaction(2)).
type siginfo struct {
	signo, errno, code, _ int32
	pid, uid              int32
	_                     [104]byte
}

// signalInfo reads one noted signal.
func signalInfo(fd int) (siginfo, bool) {
	var si siginfo
	n, _, e := syscall.Syscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&si)), unsafe.Sizeof(si))
	return si, e == 0 && n == unsafe.Sizeof(si)
}

// noted is how many signals wait to be read.
func pendingSignals(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n / int(unsafe.Sizeof(siginfo{}))
}

// currentMask is this thread's signal mask.
func currentMask() uint64 {
	var old [2]uint64
	sigmask(unix.SIG_SETMASK, nil, &old)
	return old[0]
}

// siKernel is si_code for a signal that the kernel itself sent, a terminal's
// above all (sigaction(2)).
const siKernel = 0x80

// forwarded are the signals that a supervisor forwards, bit n-1 is signal n: all
// but KILL, STOP, CHLD, the synchronous SEGV BUS FPE ILL TRAP SYS ABRT, which the
// Go runtime needs, URG, with which it signals itself, and Interrupt.
const forwarded = 0xffffffffbfba7a07

// sigmask changes the thread's signal mask, raw: the runtime's own notion of it
// stays as it is. how is SIG_BLOCK, SIG_UNBLOCK or SIG_SETMASK.
func sigmask(how int, set, old *[2]uint64) {
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, uintptr(how), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), 8, 0, 0)
}

// DieOf ends this process by a signal, without a core file. It comes back where the
// caller had the signal ignored.
func DieOf(sig unix.Signal) {
	if Inherited().Ignored&(1<<(sig-1)) != 0 {
		return
	}
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // a limit of 0 is no matter to a core_pattern that is a pipe
	setDefault(uintptr(sig))
	set := [2]uint64{1 << (sig - 1)}
	sigmask(unix.SIG_UNBLOCK, &set, nil)
	unix.Tgkill(unix.Getpid(), unix.Gettid(), sig)
}
