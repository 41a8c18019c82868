package listen

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The bounds of what is remembered of the sockets that the sandbox makes. What
// is forgotten cannot be connected to any more.
const (
	maxMade    = 8192
	maxPinned  = 64 // on file systems that note no time of birth
	maxPending = 64
)

// made is the files of the sockets that were bound inside. The call itself goes
// on, so that a socket has the name that its program gave it; the socket is
// copied before and asked afterwards which file it was bound to. Nothing that a
// program changes meanwhile can make another's file one of these.
type made struct {
	mu      sync.Mutex
	pending []*bound
	files   map[inode]int
	order   []inode // of files, as a ring
	next    int
	pinned  []pin
}

// bound is a copy of a socket that is about to be bound.
type bound struct{ sock int }

// pin is a file that is held open, so that none can have its number.
type pin struct {
	id inode
	fd int
}

// expect takes over a copy of a socket that is about to be bound.
func (m *made) expect(sock int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settle()
	if len(m.pending) == maxPending {
		m.drop(m.pending[0])
	}
	p := &bound{sock}
	m.pending = append(m.pending, p)
	go m.await(p)
}

// await asks a socket for its file until it has one, so that the copy does not
// live on for long when its program lets go of it.
func (m *made) await(p *bound) {
	for wait := time.Millisecond; wait < 2*time.Second; wait *= 2 {
		time.Sleep(wait)
		m.mu.Lock()
		m.settle()
		over := p.sock < 0
		m.mu.Unlock()
		if over {
			return
		}
	}
	m.mu.Lock()
	m.drop(p) // the bind has failed, most likely
	m.mu.Unlock()
}

// drop lets go of one that is not waited for any more.
func (m *made) drop(p *bound) {
	if i := slices.Index(m.pending, p); i >= 0 {
		m.pending = slices.Delete(m.pending, i, i+1)
		p.close()
	}
}

func (p *bound) close() {
	unix.Close(p.sock)
	p.sock = -1
}

// settle remembers the files of the sockets that are bound by now.
func (m *made) settle() {
	m.pending = slices.DeleteFunc(m.pending, func(p *bound) bool {
		fd, e := boundTo(p.sock)
		if e == unix.ENOENT {
			return false
		}
		if e == 0 {
			m.remember(fd)
		}
		p.close()
		return true
	})
}

// remember takes over a descriptor of a file's name.
func (m *made) remember(fd int) {
	id, _, e := inodeOf(fd)
	if e == 0 && id.born == (unix.StatxTimestamp{}) {
		if len(m.pinned) == maxPinned {
			unix.Close(m.pinned[0].fd)
			m.pinned = append(m.pinned[:0], m.pinned[1:]...)
		}
		m.pinned = append(m.pinned, pin{id, fd})
		return
	}
	unix.Close(fd)
	if e != 0 {
		return
	}
	if m.files == nil {
		m.files = map[inode]int{}
	}
	if len(m.order) < maxMade {
		m.order = append(m.order, id)
	} else {
		old := m.order[m.next]
		if m.files[old]--; m.files[old] <= 0 {
			delete(m.files, old)
		}
		m.order[m.next] = id
		m.next = (m.next + 1) % maxMade
	}
	m.files[id]++
}

// has tells whether a file is one of these.
func (m *made) has(id inode) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settle()
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
