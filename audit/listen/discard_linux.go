package listen

import "golang.org/x/sys/unix"

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
		d.put(&flight{sock: fd, at: -1})
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
