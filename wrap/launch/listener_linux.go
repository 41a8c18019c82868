package launch

import (
	"golang.org/x/sys/unix"

	"sbx/seccomp"
)

// childFDs are descriptors that the child leaves for the supervisor, -1 for none.
type childFDs struct {
	listener int // seccomp's listener
	named    int // a terminal of the sandbox that occupies the name of the caller's terminal
	root     int // the sandbox's root, if the supervisor has another
	scratch  int // the tmpfs of the sandbox's layers, see Scratch
	renewal  renewal
}

var noChildFDs = childFDs{-1, -1, -1, -1, noRenewal}

// adopt takes over the descriptors in the child's slots.
func (f *childFDs) adopt(take func(Slot) int) {
	f.listener, f.root, f.named, f.scratch = take(slotListener), take(slotRoot), take(slotTerminal), take(slotScratch)
	f.renewal.adopt(take)
	for fd := range 3 { // the command has its own copies
		if d := take(slotStream + Slot(fd)); d >= 0 {
			unix.Close(d)
		}
	}
	if f.listener >= 0 {
		seccomp.Sync(f.listener)
	}
}

// Listener returns the descriptor of seccomp's listener, -1 for none. Go answers the first
// notification, which is the command's own exec.
func (f *childFDs) Listener() int { return f.listener }

// Root returns a descriptor of the sandbox's root directory (O_PATH), -1 if it is the supervisor's
// own or may differ between processes.
func (f *childFDs) Root() int { return f.root }

// Scratch returns a descriptor of the tmpfs that holds the Plan's layers (O_PATH), -1 if the Plan
// does not open it. It is valid until Supervise returns.
func (f *childFDs) Scratch() int { return f.scratch }

func (f *childFDs) close() {
	closeFDs(&f.listener, &f.named, &f.root, &f.scratch)
	f.renewal.close()
}
