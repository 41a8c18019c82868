package seccomp

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ListenerFlags are the flags for loading a program that has a listener. While a call waits for its
// answer only a fatal signal interrupts it. Otherwise a Go program, which sends itself signals,
// would repeat the call for ever (Linux 6.0).
const ListenerFlags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV

// Notification is a call that waits for an answer: the kernel's struct seccomp_notif
// (seccomp_unotify(2)).
type Notification struct {
	ID    uint64
	TID   uint32 // the thread, in the receiver's pid namespace
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// Call returns the call of the notification.
func (n *Notification) Call() Call {
	return Call{Arch: n.arch, Nr: uint32(n.nr), IP: n.ip, Args: n.args}
}

// response is struct seccomp_notif_resp.
type response struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

// addFD is struct seccomp_notif_addfd.
type addFD struct {
	id         uint64
	flags      uint32
	srcfd      uint32
	newfd      uint32
	newfdFlags uint32
}

// These are the requests of a listener: _IOWR('!', 0..4) of linux/seccomp.h.
const (
	notifRecv     = 0xc0502100
	notifSend     = 0xc0182101
	notifValid    = 0x40082102
	notifAddFD    = 0x40182103
	notifSetFlags = 0x40082104
)

// syncWakeUp is SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP: the caller and the listener take turns on one
// processor, which saves four fifths of the time of an answer.
const syncWakeUp = 1

// Sync requests wake-ups on the same processor, if the kernel supports them (Linux 6.6).
func Sync(fd int) {
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), notifSetFlags, syncWakeUp)
}

// Receive takes the next notification. ENOENT means that there was one, but its thread was killed.
func Receive(fd int, n *Notification) unix.Errno {
	*n = Notification{} // the kernel rejects memory that is not zero
	for {
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), notifRecv, uintptr(unsafe.Pointer(n)))
		if e != unix.EINTR {
			return e
		}
	}
}

// Next waits for the next notification and takes it. If taken is false, the thread of the call is
// gone or, with over, no thread has the filter any more, which ends the wait since Linux 6.11.
func Next(fd int, n *Notification) (taken, over bool) {
	switch e := Receive(fd, n); e {
	case 0:
		return true, false
	case unix.ENOENT:
		pf := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, err := unix.Poll(pf, 0)
		return false, err == nil && pf[0].Revents&unix.POLLHUP != 0
	}
	return false, true
}

// Continue lets the call run as if it had not been notified. The facts on which that decision rests
// may have changed since they were read: see seccomp_unotify(2), "Caveats". ENOENT means that the
// thread was killed first, and that the call did not run.
func Continue(fd int, id uint64) unix.Errno {
	return send(fd, &response{id: id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE})
}

// Fail lets the call fail with e.
func (n *Notification) Fail(fd int, e unix.Errno) unix.Errno {
	return send(fd, &response{id: n.ID, errno: -int32(e)})
}

// Answer answers the call with a result.
func (n *Notification) Answer(fd int, result int64) unix.Errno {
	return send(fd, &response{id: n.ID, val: result})
}

func send(fd int, r *response) unix.Errno {
	for {
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), notifSend, uintptr(unsafe.Pointer(r)))
		if e != unix.EINTR {
			return e
		}
	}
}

// RawAnswer answers call id with e, 0 for success, from a thread that the Go runtime does not know.
//
//go:nosplit
//go:norace
func RawAnswer(fd int, id uint64, e unix.Errno) {
	r := response{id: id, errno: -int32(e)}
	for again := unix.EINTR; again == unix.EINTR; {
		_, _, again = syscall.RawSyscall(unix.SYS_IOCTL, uintptr(fd), notifSend, uintptr(unsafe.Pointer(&r)))
	}
}

// Valid reports whether the call still waits: then its thread's number means the same thread as
// when the notification came.
func Valid(fd int, id uint64) bool {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), notifValid, uintptr(unsafe.Pointer(&id)))
	return e == 0
}

// Give answers the call with a new descriptor in the caller's table, a copy of own that is closed
// on exec if cloexec is true (Linux 5.14: the answer and the descriptor are one step).
func (n *Notification) Give(fd, own int, cloexec bool) unix.Errno {
	a := addFD{id: n.ID, flags: unix.SECCOMP_ADDFD_FLAG_SEND, srcfd: uint32(own)}
	if cloexec {
		a.newfdFlags = unix.O_CLOEXEC
	}
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), notifAddFD, uintptr(unsafe.Pointer(&a)))
	return e
}
