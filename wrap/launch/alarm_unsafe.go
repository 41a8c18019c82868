package launch

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Alarm interrupts the system calls in which one thread waits, like Interrupt:
// again and again while it is on, since a signal that comes just before the
// thread waits is lost.
type Alarm struct {
	timer int32
}

// alarmEvery is how long a call may take, in nanoseconds.
const alarmEvery = 300_000

// sigevent is struct sigevent (timer_create(2)), for SIGEV_THREAD_ID.
type sigevent struct {
	value         uint64
	signo, notify int32
	tid           int32
	_             [44]byte
}

const sigevThreadID = 4

// NewAlarm is an alarm for the calling thread, nil where there can be none.
// Catch was called before.
func NewAlarm() *Alarm {
	a := &Alarm{}
	ev := sigevent{signo: interrupt, notify: sigevThreadID, tid: int32(unix.Gettid())}
	if _, _, e := syscall.RawSyscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&ev)), uintptr(unsafe.Pointer(&a.timer))); e != 0 {
		return nil
	}
	return a
}

// Set switches the alarm on or off.
func (a *Alarm) Set(on bool) {
	spec := [4]int64{} // struct itimerspec: the interval, then the first time
	if on {
		spec[1], spec[3] = alarmEvery, alarmEvery
	}
	syscall.RawSyscall6(unix.SYS_TIMER_SETTIME, uintptr(a.timer), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
}
