package listen

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Limits on the remembered sockets. Once the listener forgets a socket, programs in the
// sandbox cannot connect to it any more.
const (
	maxBoundSockets = 8192
	maxPinned       = 64 // files on file systems without a birth time
	maxPending      = 64
)

// boundSockets holds the files of the pathname sockets that were bound in the sandbox.
// The kernel makes the bind itself, so that the socket gets the name that its program
// chose. The listener copies the socket before and asks the copy afterwards which file
// it was bound to, so a racing program cannot have another file recorded.
type boundSockets struct {
	discards *discards // closes copies that are no longer needed
	pending  []bound
	wait     time.Duration // interval until the pending copies are asked again; 0 for never
	due      time.Time     // end of that interval
	files    map[inode]int // how often each occurs in order
	order    []inode       // ring buffer of files
	next     int           // oldest entry of order once that is full
	pinned   []pin
}

// bound is a copy of a socket that its program is about to bind; asked counts how often
// the copy was asked for its file.
type bound struct{ sock, asked int }

// pin is a file that is kept open so that its inode number is not reused.
type pin struct {
	id inode
	fd int
}

// The copies are polled soon and often, since each keeps its socket alive after its
// program has closed it: first after askFirst, then at intervals that double up to
// askLast, about two seconds in all. A bind without effect by then has failed.
const (
	askFirst = time.Millisecond
	askLast  = 64 * time.Millisecond
	maxAsked = 36
)

// expect takes ownership of sock, a copy of a socket that is about to be bound.
func (m *boundSockets) expect(sock int, d *discards) {
	m.discards = d
	m.collect(false)
	if len(m.pending) == maxPending {
		d.add(m.pending[0].sock)
		m.pending = slices.Delete(m.pending, 0, 1)
	}
	m.pending = append(m.pending, bound{sock: sock})
	if m.wait == 0 {
		m.wait, m.due = askFirst, time.Now().Add(askFirst)
	}
}

// ask polls the pending copies if that is due. It returns after which time it wants to
// be called again, 0 for never.
func (m *boundSockets) ask(now time.Time) time.Duration {
	if m.wait == 0 {
		return 0
	}
	if left := m.due.Sub(now); left > 0 {
		return left
	}
	m.collect(true)
	if m.wait = min(2*m.wait, askLast); len(m.pending) == 0 {
		m.wait = 0
	}
	m.due = now.Add(m.wait)
	return m.wait
}

// collect records the files of the pending sockets that are bound by now, and drops
// sockets that were asked maxAsked times. asks counts this call as one of those times.
func (m *boundSockets) collect(asks bool) {
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

// forget closes all descriptors and empties the set.
func (m *boundSockets) forget(d *discards) {
	for _, p := range m.pending {
		d.add(p.sock)
	}
	for _, p := range m.pinned {
		unix.Close(p.fd)
	}
	*m = boundSockets{}
}

// remember records a socket's file and takes ownership of fd (O_PATH).
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

// note records a file by its inode, in place of the oldest one once maxBoundSockets
// are recorded.
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

// pin records a file and keeps fd open, closing the oldest one beyond maxPinned.
func (m *boundSockets) pin(id inode, fd int) {
	if len(m.pinned) == maxPinned {
		unix.Close(m.pinned[0].fd)
		m.pinned = slices.Delete(m.pinned, 0, 1)
	}
	m.pinned = append(m.pinned, pin{id, fd})
}

// has reports whether a file belongs to a socket that was bound in the sandbox.
func (m *boundSockets) has(id inode) bool {
	m.collect(false)
	return m.files[id] > 0 || slices.ContainsFunc(m.pinned, func(p pin) bool { return p.id == id })
}
