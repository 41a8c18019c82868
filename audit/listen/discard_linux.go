package listen

import (
	"sync"

	"golang.org/x/sys/unix"
)

// maxDiscards is how many copies may wait to be closed before no more are made.
const maxDiscards = 64

// discards close copies of what is the sandbox's. That may take as long as it
// likes, where the copy is the last: a socket lingers (SO_LINGER), or has others
// in its queue that do.
type discards struct {
	mu   sync.Mutex
	fds  []int
	busy bool
}

// add takes over a descriptor; -1 is none.
func (d *discards) add(fd int) {
	if fd < 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fds = append(d.fds, fd)
	if !d.busy {
		d.busy = true
		go d.close()
	}
}

func (d *discards) close() {
	for {
		d.mu.Lock()
		if len(d.fds) == 0 {
			d.busy = false
			d.mu.Unlock()
			return
		}
		fd := d.fds[0]
		d.mu.Unlock()
		unix.Close(fd)
		d.mu.Lock()
		d.fds = d.fds[1:]
		d.mu.Unlock()
	}
}

func (d *discards) full() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.fds) >= maxDiscards
}
