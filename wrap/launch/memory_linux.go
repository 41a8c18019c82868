package launch

import (
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// lookEvery is how often memory is looked at where no group bounds it.
const lookEvery = 250 * time.Millisecond

// MemoryWatch ends the largest process of a tree that has more memory than it
// may have. It is what is left where no group can be made: a tree that is quick
// can have more for a moment, and what lies in a tmpfs is not seen.
type MemoryWatch struct {
	of    *child
	timer int
	most  int64
	Ended int // processes that were ended
}

// WatchMemory begins to look.
func (c *child) WatchMemory(most int64) (*MemoryWatch, error) {
	fd, err := timer(lookEvery, lookEvery)
	if err != nil {
		return nil, err
	}
	return &MemoryWatch{of: c, timer: fd, most: most}, nil
}

// Waiter is what the supervisor waits for.
func (w *MemoryWatch) Waiter() Waiter { return Waiter{FD: w.timer, Event: w.look} }

// Close is for when the command has ended.
func (w *MemoryWatch) Close() { unix.Close(w.timer) }

// look adds up what is cheap to read, pages that are shared counted for each
// process, and only where that is too much what is not.
func (w *MemoryWatch) look() {
	if !ticked(w.timer) {
		return
	}
	pids := w.of.tree()
	var sum int64
	for _, pid := range pids {
		sum += resident(pid)
	}
	if sum <= w.most {
		return
	}
	sum = 0
	largest, at := int64(0), 0
	for _, pid := range pids {
		n := proportional(pid)
		sum += n
		if n > largest {
			largest, at = n, pid
		}
	}
	if sum <= w.most || at == 0 {
		return
	}
	fd, err := unix.PidfdOpen(at, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if proportional(at) < largest/2 { // another process by now, or one that has just given it back
		return
	}
	if unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil {
		w.Ended++
	}
}

// resident is what a process has in memory: the second number of
// /proc/pid/statm, in pages.
func resident(pid int) int64 {
	b, _ := read.Proc("/proc/"+strconv.Itoa(pid)+"/statm", 1<<10)
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(f[1], 10, 64)
	return n * int64(unix.Getpagesize())
}

// proportional is the same with shared pages parted among those who share them.
func proportional(pid int) int64 {
	b, _ := read.Proc("/proc/"+strconv.Itoa(pid)+"/smaps_rollup", 1<<14)
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "Pss:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(v), "kB")), 10, 64)
			return n << 10
		}
	}
	return resident(pid)
}
