package listen

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/sys"
	"sbx/seccomp"
)

// maxPendingConnects is how many connects may be pending at once. Each occupies a thread
// for as long as the server's queue is full.
const maxPendingConnects = 64

// patience is the interval at which Tick checks whether callers still wait.
const patience = 100 * time.Millisecond

// pendingConnects holds the connects that helpers are making.
type pendingConnects struct {
	helpers
	*answers
	clock     *clock
	interrupt unix.Signal
	describes bool
}

// start hands a connect to a helper thread, since the sandbox can make the call block. EAGAIN means
// that too many are pending or no thread could be started.
func (h *pendingConnects) start(f *pendingConnect) unix.Errno {
	h.most, h.signals = maxPendingConnects, 1<<(uint64(h.interrupt)-1)
	if h.clock.fd < 0 || !h.open() || !h.hasPlace(maxPendingConnects, h.describe) || h.addThread(len(h.pending)+1) != 0 {
		return unix.EAGAIN
	}
	f.listener, f.clock = h.to.fd, h.clock.fd
	if !h.describes {
		f.target = ""
	}
	h.put(f)
	h.clock.within(patience)
	return 0
}

// describe reports and answers the connects that the sandbox's network has denied, while
// their callers still wait.
func (h *pendingConnects) describe() {
	for _, f := range h.pending {
		if atomic.LoadUint32(&f.state) != refused {
			continue
		}
		h.reportOf(f.id, f.tid, ByNetwork, f.action, f.target)
		n := seccomp.Notification{ID: f.id}
		n.Fail(h.to.fd, f.errno)
		atomic.StoreUint32(&f.state, over)
	}
}

// cancel interrupts connects whose callers no longer wait. A signal that arrives before
// the thread blocks is lost; the next Tick sends it again.
func (h *pendingConnects) cancel() {
	for _, f := range h.pending {
		if atomic.LoadUint32(&f.cancelled) == 0 && seccomp.Valid(h.to.fd, f.id) {
			continue
		}
		atomic.StoreUint32(&f.cancelled, 1)
		if thread := atomic.LoadUint32(&f.thread); thread != 0 {
			_ = unix.Tgkill(unix.Getpid(), int(thread), h.interrupt)
		}
	}
}

// clock is a timerfd that expires when Tick should be called.
type clock struct {
	fd  int
	due time.Time // zero if the timer is not set
}

// within sets the timer to expire after d, unless it expires earlier already or d is 0.
func (c *clock) within(d time.Duration) {
	due := time.Now().Add(d)
	if d == 0 || !c.due.IsZero() && c.due.Before(due) {
		return
	}
	c.due = due
	sys.Arm(c.fd, d, 0)
}
