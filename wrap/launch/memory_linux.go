package launch

import (
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/internal/sys"
)

// lookEvery is the interval of the checks if no cgroup limits the memory.
const lookEvery = 250 * time.Millisecond

// MemoryWatch kills the largest process of a sandbox that uses more memory than allowed. It is
// the
// fallback if no cgroup can be created: processes that allocate quickly can exceed the
// limit for a moment, and the contents of a tmpfs are not counted.
type MemoryWatch struct {
	of    *child
	timer int
	most  int64
	Ended int // killed processes
}

// WatchMemory starts the checks.
func (c *child) WatchMemory(most int64) (*MemoryWatch, error) {
	fd, err := sys.Timer(lookEvery, lookEvery)
	if err != nil {
		return nil, err
	}
	return &MemoryWatch{of: c, timer: fd, most: most}, nil
}

// Waiter returns what the supervisor must wait for.
func (w *MemoryWatch) Waiter() Waiter { return Waiter{FD: w.timer, Event: w.look} }

// Close is called when the command has ended.
func (w *MemoryWatch) Close() { unix.Close(w.timer) }

// look first adds up a cheap figure, which counts shared pages for each process, and only
// if that exceeds the limit the exact one.
func (w *MemoryWatch) look() {
	if !sys.Hush(w.timer) {
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
	if proportional(at) < largest/2 { // another process has this pid now, or the process has just freed memory
		return
	}
	if unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil {
		w.Ended++
	}
}

// resident returns a process's memory: the second number of /proc/pid/statm, in pages.
func resident(pid int) int64 {
	b, _ := read.Proc("/proc/"+strconv.Itoa(pid)+"/statm", 1<<10)
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(f[1], 10, 64)
	return n * int64(unix.Getpagesize())
}

// proportional returns a process's memory with shared pages divided among the sharing processes.
func proportional(pid int) int64 {
	b, _ := read.Proc("/proc/"+strconv.Itoa(pid)+"/smaps_rollup", 1<<14)
	if n, err := strconv.ParseInt(strings.TrimSuffix(read.StatusLine(string(b), "Pss:"), " kB"), 10, 64); err == nil {
		return n << 10
	}
	return resident(pid)
}
