package listen

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// The bounds of what is remembered of the sockets that the sandbox makes. What
// is forgotten cannot be connected to any more.
const (
	maxBoundSockets = 8192
	maxPinned       = 64 // on file systems that note no time of birth
	maxPending      = 64
)

// boundSockets is the files of the sockets that were bound inside. The call itself goes
// on, so that a socket has the name that its program gave it; the socket is
// copied before and asked afterwards which file it was bound to. Nothing that a
// program changes meanwhile can make another's file one of these.
type boundSockets struct {
	discards *discards // where copies go that are not needed any more
	pending  []bound
	wait     time.Duration // until those that are pending are asked again
	due      time.Time     // when that is
	files    map[inode]int
	order    []inode // of files, as a ring
	next     int
	pinned   []pin
}

// bound is a copy of a socket that is about to be bound, and how often it has
// been asked.
type bound struct{ sock, asked int }

// pin is a file that is held open, so that none can have its number.
type pin struct {
	id inode
	fd int
}

// The copies are asked again and again, lest they live on when their programs
// let go of them: after each millisecond and, where one takes longer, for about
// two seconds in all. A bind that took no effect until then has failed.
const (
	askFirst = time.Millisecond
	askLast  = 64 * time.Millisecond
	maxAsked = 36
)

// expect takes over a copy of a socket that is about to be bound.
func (m *boundSockets) expect(sock int, d *discards) {
	m.discards = d
	m.settle(false)
	if len(m.pending) == maxPending {
		d.add(m.pending[0].sock)
		m.pending = slices.Delete(m.pending, 0, 1)
	}
	m.pending = append(m.pending, bound{sock: sock})
	if m.wait == 0 {
		m.wait, m.due = askFirst, time.Now().Add(askFirst)
	}
}

// ask settles what is pending, where it is time to. It gives when it is to be called
// again, 0 for never.
func (m *boundSockets) ask(now time.Time) time.Duration {
	if m.wait == 0 {
		return 0
	}
	if left := m.due.Sub(now); left > 0 {
		return left
	}
	m.settle(true)
	if m.wait = min(2*m.wait, askLast); len(m.pending) == 0 {
		m.wait = 0
	}
	m.due = now.Add(m.wait)
	return m.wait
}

// settle remembers the files of the sockets that are bound by now, and gives up
// on those that were asked often enough.
func (m *boundSockets) settle(asks bool) {
	m.pending = slices.DeleteFunc(m.pending, func(p bound) bool {
		fd, e := boundTo(p.sock)
		if e == unix.ENOENT && p.asked < maxAsked {
			return false
		}
		if e == 0 {
			m.remember(fd)
		}
		m.discards.add(p.sock)
		return true
	})
	for i := range m.pending {
		if asks {
			m.pending[i].asked++
		}
	}
}

// forget lets go of everything.
func (m *boundSockets) forget(d *discards) {
	for _, p := range m.pending {
		d.add(p.sock)
	}
	for _, p := range m.pinned {
		unix.Close(p.fd)
	}
	*m = boundSockets{}
}

// remember takes over a descriptor of a file's name.
func (m *boundSockets) remember(fd int) {
	id, _, e := inodeOf(fd)
	if e == 0 && id.born == (unix.StatxTimestamp{}) {
		m.pin(id, fd)
		return
	}
	unix.Close(fd)
	if e == 0 {
		m.note(id)
	}
}

// note remembers a file for as long as there are not too many.
func (m *boundSockets) note(id inode) {
	if m.files == nil {
		m.files = map[inode]int{}
	}
	if len(m.order) < maxBoundSockets {
		m.order = append(m.order, id)
	} else {
		old := m.order[m.next]
		if m.files[old]--; m.files[old] <= 0 {
			delete(m.files, old)
		}
		m.order[m.next] = id
		m.next = (m.next + 1) % maxBoundSockets
	}
	m.files[id]++
}

// pin remembers a file that is held open.
func (m *boundSockets) pin(id inode, fd int) {
	if len(m.pinned) == maxPinned {
		unix.Close(m.pinned[0].fd)
		m.pinned = slices.Delete(m.pinned, 0, 1)
	}
	m.pinned = append(m.pinned, pin{id, fd})
}

// has tells whether a file is one of these.
func (m *boundSockets) has(id inode) bool {
	m.settle(false)
	if m.files[id] > 0 {
		return true
	}
	for _, p := range m.pinned {
		if p.id == id {
			return true
		}
	}
	return false
}
