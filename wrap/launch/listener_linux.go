package launch

import (
	"golang.org/x/sys/unix"

	"sbx/seccomp"
)

// left is what the child leaves for the supervisor: descriptors, -1 for none.
type childFDs struct {
	listener int // of seccomp
	named    int // a terminal of the sandbox's own, whose name is the caller's
	root     int // the sandbox's root, where the supervisor's is another
	scratch  int // the tmpfs of the sandbox's own files, see Scratch
	renewal  renewal
}

var noChildFDs = childFDs{-1, -1, -1, -1, noRenewal}

// adopt takes over the descriptors that the child left in its slots.
func (f *childFDs) adopt(take func(Slot) int) {
	f.listener, f.root, f.named, f.scratch = take(slotListener), take(slotRoot), take(slotTerminal), take(slotScratch)
	f.renewal.adopt(take)
	for fd := range 3 { // the command has its own
		if d := take(slotStream + Slot(fd)); d >= 0 {
			unix.Close(d)
		}
	}
	if f.listener >= 0 {
		seccomp.Sync(f.listener)
	}
}

// Listener is the descriptor of seccomp's listener, -1 for none. The first
// notification, of the command itself, is Go's matter.
func (f *childFDs) Listener() int { return f.listener }

// Root is a descriptor of the sandbox's root directory (O_PATH), -1 where that is
// the supervisor's own or each process may have another.
func (f *childFDs) Root() int { return f.root }

// Scratch is a descriptor of the tmpfs in which the Plan's layers are (O_PATH), -1 where
// the Plan does not open it. It is good until Supervise returns.
func (f *childFDs) Scratch() int { return f.scratch }

func (f *childFDs) close() {
	closeFDs(&f.listener, &f.named, &f.root, &f.scratch)
	f.renewal.close()
}
