package main

import (
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"sbx/internal/sys"
	"sbx/wrap/launch"
)

// linePrinter prints lines while a command runs. It prints from a thread of its own: the
// command can block writes to its terminal or pipe for any time, and the supervisor must
// enforce limits meanwhile. While the terminal is in raw mode, as full-screen programs set
// it, the lines are kept: the program would overwrite them, and they would disappear with
// its screen.
type linePrinter struct {
	mu    sync.Mutex
	lines []string
	lost  int  // lines that did not fit into the buffer
	said  int  // an eventfd that is readable when all lines are printed; 0 before the first line
	busy  bool // a thread is printing
	over  bool // the command has ended: no line is kept any more
	stuck bool // printing has blocked, and nobody waits for it any more
}

// The size of the buffer, and how long the supervisor waits for a line to be printed, so
// that it comes before the command's next output.
const (
	maxUnsaid = 1000
	attentive = 200 // milliseconds
)

func (v *linePrinter) say(fd int, lines string) {
	v.mu.Lock()
	if len(v.lines) == maxUnsaid {
		v.lost++
		v.mu.Unlock()
		return
	}
	v.lines = append(v.lines, lines)
	v.begin(fd)
	waits := v.busy && !v.stuck
	v.mu.Unlock()
	if waits && !v.waitPrinted() {
		v.mu.Lock()
		v.stuck = v.busy
		v.mu.Unlock()
	}
}

// begin starts a thread that prints, unless one is printing or the lines are to be kept.
func (v *linePrinter) begin(fd int) {
	if v.busy || v.holdsBack(fd) {
		return
	}
	v.busy = true
	v.renew()
	go launch.Unstopped(func() { v.printAll(fd) })
}

// holdsBack reports whether the lines are to be kept: there are none, or the terminal is in raw
// mode.
func (v *linePrinter) holdsBack(fd int) bool {
	if len(v.lines) == 0 || v.over {
		return len(v.lines) == 0
	}
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil && t.Lflag&unix.ICANON == 0
}

func (v *linePrinter) printAll(fd int) {
	for {
		v.mu.Lock()
		if v.holdsBack(fd) {
			v.busy, v.stuck = false, false
			sys.Ring(v.said)
			v.mu.Unlock()
			return
		}
		line := v.lines[0]
		v.lines = v.lines[1:]
		v.mu.Unlock()
		_ = sys.WriteAll(fd, line)
	}
}

// renew makes said unreadable.
func (v *linePrinter) renew() {
	var err error
	if v.said <= 0 {
		if v.said, err = sys.Event(); err != nil {
			v.said = -1 // without it, every line is waited for until it is printed
		}
	}
	sys.Hush(v.said)
}

// waitPrinted waits a while until all lines are printed. It does not use a timer of Go, which
// would start a thread.
func (v *linePrinter) waitPrinted() bool {
	pf := []unix.PollFd{{Fd: int32(v.said), Events: unix.POLLIN}}
	n, err := unix.Poll(pf, attentive)
	for err == unix.EINTR {
		n, err = unix.Poll(pf, attentive)
	}
	return n == 1
}

func (v *linePrinter) isBusy() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.busy
}

// finish waits without limit until all lines are printed: the command is over, and its
// record is written. If the command has stopped the terminal's output, finish resumes it.
func (s *streams) finish() {
	v := s.voice
	s.voice = nil
	v.mu.Lock()
	v.over = true
	v.begin(s.err)
	v.mu.Unlock()
	if v.isBusy() {
		launch.ResumeOutput(s.err)
	}
	for v.isBusy() {
		v.waitPrinted()
	}
	if v.lost > 0 {
		s.say(strconv.Itoa(v.lost) + " more lines were not written: too many waited")
	}
}
