package listen

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"sbx/seccomp"
)

// maxPendingConnects is how many connects may be under way at once. Each has a thread,
// which waits for as long as the other side's queue is full.
const maxPendingConnects = 64

// patience is how often it is looked whether somebody still waits for a connect.
const patience = 100 * time.Millisecond

// pendingConnect is a connect that a helper makes in its caller's stead, or descriptors that
// it closes.
type pendingConnect struct {
	id       uint64 // the notification; 0 for none: there is nothing but to close
	tid      uint32 // the caller
	listener int
	sock     int // a copy of its socket
	domain   int
	at       int // the file that address leads to; -1 for none
	address  address
	target   string // what is outside of the sandbox's network, where that is told; may be empty
	action   string // of the refusal then
	clock    int    // what wakes Tick
	within   []*narrowed
	egress   *Egress
	token    uint32 // of egress, where that is not nil

	state     uint32
	thread    uint32 // the helper's while it connects; 0 before and after
	cancelled uint32 // 1: nobody waits for it any more
	errno     unix.Errno
}

// start has the call made by a helper: one that does not return for as long as
// the sandbox likes. EAGAIN: too many are under way, or no thread can be had.
func (h *pendingConnects) start(f *pendingConnect) unix.Errno {
	h.most, h.signals = maxPendingConnects, 1<<(uint64(h.interrupt)-1)
	if h.clock.fd < 0 || !h.open() || !h.hasPlace(maxPendingConnects, h.describe) || h.staff(len(h.under)+1) != 0 {
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

// forgetFailed describes and answers what the sandbox's network has refused, while its
// program still waits.
func (h *pendingConnects) describe() {
	for _, f := range h.under {
		if atomic.LoadUint32(&f.state) != refused {
			continue
		}
		h.reportOf(f.id, f.tid, ByNetwork, f.action, f.target)
		n := seccomp.Notification{ID: f.id}
		n.Fail(h.to.fd, f.errno)
		atomic.StoreUint32(&f.state, over)
	}
}

// cancel ends what nobody waits for any more. A signal that comes before the thread
// waits is lost, and sent again the next time.
func (h *pendingConnects) cancel() {
	for _, f := range h.under {
		if atomic.LoadUint32(&f.cancelled) == 0 && seccomp.Valid(h.to.fd, f.id) {
			continue
		}
		atomic.StoreUint32(&f.cancelled, 1)
		if thread := atomic.LoadUint32(&f.thread); thread != 0 {
			_ = unix.Tgkill(unix.Getpid(), int(thread), h.interrupt)
		}
	}
}
