package listen

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"sbx/seccomp"
)

// maxFlights is how many connects may be under way at once. Each has a thread,
// which waits for as long as the other side's queue is full.
const maxFlights = 64

// patience is how often it is looked whether somebody still waits for a connect.
const patience = 100 * time.Millisecond

// flight is a connect that a helper makes in its caller's stead.
type flight struct {
	id      uint64 // the notification
	tid     uint32 // the caller
	sock    int    // a copy of its socket
	domain  int
	at      int // the file that address leads to; -1 for none
	address address
	target  string // what is outside of the sandbox's network; may be empty

	thread    int  // the helper's; 0 before and after
	cancelled bool // nobody waits for it any more
	errno     unix.Errno
}

// flights are those under way.
type flights struct {
	mu      sync.Mutex
	all     []*flight
	watched bool // somebody looks whether they are still waited for
	refused []*flight
	event   int // readable while refused is not empty
}

// OpenRefused makes a descriptor that is readable when Landed is to be called;
// -1 where there is none, and refusals of the network are answered undescribed.
func (l *Listener) OpenRefused() int {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		fd = -1
	}
	l.flights.event = fd
	return fd
}

// depart has the call made by a helper: one that does not return for as long as
// the sandbox likes. EAGAIN: too many are under way.
func (l *Listener) depart(f *flight) unix.Errno {
	fs := &l.flights
	fs.mu.Lock()
	if len(fs.all) >= maxFlights {
		fs.mu.Unlock()
		return unix.EAGAIN
	}
	fs.all = append(fs.all, f)
	if !fs.watched {
		fs.watched = true
		go l.watchFlights()
	}
	fs.mu.Unlock()
	go l.fly(f)
	// The goroutine would wait in this thread's queue until another one came
	// for it, up to milliseconds. So this thread gives its place to one that
	// runs it at once, and comes back to its own work in microseconds.
	runtime.Gosched()
	return 0
}

// fly makes the call and answers. The copies are closed first, so that the
// caller's own socket is the last one when it goes on, and the place given up
// after that: to close the last one may take its time.
func (l *Listener) fly(f *flight) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fs := &l.flights
	fs.board(f, unix.Gettid())
	for f.errno = unix.EINTR; f.errno == unix.EINTR && !fs.isCancelled(f); {
		f.errno = connect(f.sock, &f.address)
	}
	unix.Close(f.sock)
	if f.at >= 0 {
		unix.Close(f.at)
	}
	fs.leave(f)
	if f.target == "" || !unreachable(f.errno) || !fs.tell(f) {
		f.answer(l.FD)
	}
}

func (f *flight) answer(listener int) {
	n := seccomp.Notification{ID: f.id}
	if f.errno == 0 {
		n.Answer(listener, 0)
	} else {
		n.Fail(listener, f.errno)
	}
}

func (fs *flights) board(f *flight, thread int) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.thread = thread
}

// isCancelled tells whether a call is not to be made again that a signal has
// interrupted; another than the one that cancels means nothing.
func (fs *flights) isCancelled(f *flight) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return f.cancelled
}

func (fs *flights) leave(f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.thread = 0
	fs.all = slices.DeleteFunc(fs.all, func(o *flight) bool { return o == f })
}

// watchFlights cancels what nobody waits for any more, as long as anything is
// under way. A signal that comes before the thread waits is lost, and sent again
// the next time.
func (l *Listener) watchFlights() {
	fs := &l.flights
	for {
		time.Sleep(patience)
		fs.mu.Lock()
		for _, f := range fs.all {
			f.cancelled = f.cancelled || !seccomp.Valid(l.FD, f.id)
			if f.cancelled && f.thread != 0 {
				l.Interrupt(f.thread)
			}
		}
		if len(fs.all) == 0 {
			fs.watched = false
			fs.mu.Unlock()
			return
		}
		fs.mu.Unlock()
	}
}

// unreachable tells whether a network does not lead somewhere.
func unreachable(e unix.Errno) bool {
	switch e {
	case unix.ENETUNREACH, unix.EHOSTUNREACH, unix.EADDRNOTAVAIL, unix.EACCES, unix.EPERM:
		return true
	}
	return false
}

// tell leaves the answer to Landed, which describes the refusal while its
// program still waits.
func (fs *flights) tell(f *flight) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.event <= 0 {
		return false
	}
	if _, err := unix.Write(fs.event, []byte{1, 0, 0, 0, 0, 0, 0, 0}); err != nil {
		return false
	}
	fs.refused = append(fs.refused, f)
	return true
}

// Landed describes and answers what the sandbox's network has refused.
func (l *Listener) Landed() {
	fs := &l.flights
	var buf [8]byte
	_, _ = unix.Read(fs.event, buf[:]) // it counts what refused holds
	fs.mu.Lock()
	refused := fs.refused
	fs.refused = nil
	fs.mu.Unlock()
	for _, f := range refused {
		l.reportOf(f.id, f.tid, ByNetwork, "connect", f.target)
		f.answer(l.FD)
	}
}
