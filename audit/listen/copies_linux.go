package listen

import (
	"golang.org/x/sys/unix"
)

// copies duplicates the caller's descriptors.
type copies struct {
	*caller
	thread    thread
	oldPidfds bool // the kernel has pidfds of whole processes only
	discards  discards
}

// socketOf duplicates a descriptor from the waiting thread's own descriptor table.
func (c *copies) socketOf(number int32) (int, unix.Errno) {
	if number < 0 {
		return -1, unix.EBADF
	}
	for tries := 0; !c.oldPidfds; tries++ {
		if e := c.openThread(tries > 0); e == unix.EINVAL {
			c.oldPidfds = true
		} else if e != 0 {
			return -1, e
		} else if fd, e := pidfdGetfd(c.thread.fd, number); e != unix.ESRCH || tries > 0 {
			return fd, e
		}
	}
	return c.socketOfProcess(number)
}

// thread caches the pidfd of the thread that a socket was last copied from.
type thread struct {
	tid uint32 // 0 for none
	fd  int
}

// openThread opens a pidfd of the waiting thread, or keeps the cached one if that has
// the same TID. stale forces a new one: the TID may have been reused, and the cached
// pidfd refers to a thread that is gone. EINVAL means that the kernel has no pidfds of
// threads (before Linux 6.9).
func (c *copies) openThread(stale bool) unix.Errno {
	if c.thread.tid == c.n.TID && !stale {
		return 0
	}
	if c.thread.tid != 0 {
		unix.Close(c.thread.fd)
		c.thread = thread{}
	}
	fd, e := pidfdOpen(int(c.n.TID), pidfdThread)
	if e == 0 {
		c.thread = thread{c.n.TID, fd}
	}
	return e
}

// socketOfProcess is the fallback of socketOf for kernels without pidfds of threads. It
// duplicates the process's descriptor and checks that the thread's leads to the same
// file, since a thread may have a descriptor table of its own.
func (c *copies) socketOfProcess(number int32) (int, unix.Errno) {
	tgid := c.process()
	if tgid <= 0 {
		return -1, unix.ESRCH
	}
	pidfd, e := pidfdOpen(tgid, 0)
	if e != 0 {
		return -1, e
	}
	defer unix.Close(pidfd)
	fd, e := pidfdGetfd(pidfd, number)
	theirs, e2 := c.openFD(number)
	if e2 == unix.ENOENT {
		e, e2 = unix.EBADF, 0 // only the thread's table counts
	}
	if theirs >= 0 {
		defer unix.Close(theirs)
	}
	if e == 0 && e2 == 0 {
		var a, b unix.Stat_t
		if unix.Fstat(fd, &a) == nil && unix.Fstat(theirs, &b) == nil && a.Dev == b.Dev && a.Ino == b.Ino {
			return fd, 0
		}
		e = unix.EPERM
	}
	c.discards.add(fd)
	if e == 0 || e == unix.EBADF && theirs >= 0 { // only the thread has this descriptor
		e = unix.EPERM
	}
	return -1, e
}

// maxDiscards is how many copies may wait to be closed; beyond it no more are made.
const maxDiscards = 64

// discards closes copies of the sandbox's descriptors on a helper thread, one after the
// other. Closing the last copy of a socket may block for as long as the sandbox likes:
// the socket lingers (SO_LINGER), or has lingering sockets in its queue.
type discards struct{ helpers }

// add takes ownership of a descriptor and has it closed; it ignores -1. If no thread can
// be started the descriptor is queued until one can.
func (d *discards) add(fd int) {
	switch {
	case fd < 0:
	case !d.open():
		unix.Close(fd)
	default:
		d.put(&pendingConnect{sock: fd, at: -1})
		d.work()
	}
}

// work starts the thread if necessary. waits reports that descriptors are queued and no
// thread could be started.
func (d *discards) work() (waits bool) {
	d.most = 1
	return d.count() > 0 && d.addThread(1) != 0
}

// full reports whether no more copies may be made.
func (d *discards) full() bool { return !d.open() || !d.hasPlace(maxDiscards, func() {}) }
