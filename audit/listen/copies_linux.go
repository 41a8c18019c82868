package listen

import (
	"golang.org/x/sys/unix"
)

// socketOf copies a descriptor of the waiting thread's, from its own table.
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

// thread is a pidfd of the thread that a socket was last copied from.
type thread struct {
	tid uint32 // 0 for none
	fd  int
}

// openThread opens a pidfd of the waiting thread, unless that was the last one.
// Where its number has been given to another thread since, the pidfd is of one
// that is gone, and stale is said. EINVAL: the kernel has none of threads.
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

// socketOfProcess copies the descriptor from the process, where no thread can be
// asked, and makes sure that the thread's is the same: it may have a table of
// its own.
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
		e, e2 = unix.EBADF, 0 // whatever the process has
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
	if e == 0 || e == unix.EBADF && theirs >= 0 { // only the thread has it
		e = unix.EPERM
	}
	return -1, e
}

// maxDiscards is how many copies may wait to be closed before no more are made.
const maxDiscards = 64

// discards close copies of what is the sandbox's, one after the other. That may take
// as long as it likes, where the copy is the last: a socket lingers (SO_LINGER), or has
// others in its queue that do.
type discards struct{ helpers }

// add takes over a descriptor; -1 is none. Where no thread can be had it waits until
// one can.
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

// work tells whether there is anything left for which there is no thread.
func (d *discards) work() (waits bool) {
	d.most = 1
	return d.count() > 0 && d.staff(1) != 0
}

// full tells whether no more copies may be made.
func (d *discards) full() bool { return !d.open() || !d.hasPlace(maxDiscards, func() {}) }
