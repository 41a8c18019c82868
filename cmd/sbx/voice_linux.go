package main

import (
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"sbx/internal/sys"
	"sbx/wrap/launch"
)

// linePrinter says what is to be said while a command runs: from a thread of its own,
// since the command can keep whoever writes to the same terminal or pipe waiting
// for as long as it likes, and the supervisor has limits to hold. While the command has
// the terminal's keys to itself, as programs that fill the screen do, the lines are kept:
// there they would be written over, and be gone with the screen.
type linePrinter struct {
	mu    sync.Mutex
	lines []string
	lost  int  // lines that found no place
	said  int  // an eventfd, readable when all is said; 0 before the first line
	busy  bool // a thread says what there is
	over  bool // the command is: nothing is kept any more
	stuck bool // nobody waits for that any more
}

// The bounds of what waits to be said, and of how long a line is waited for, so
// that it stands before what the command says next.
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
	if waits && !v.isSaid() {
		v.mu.Lock()
		v.stuck = v.busy
		v.mu.Unlock()
	}
}

// begin has a thread say what there is, unless one does or it is to be kept.
func (v *linePrinter) begin(fd int) {
	if v.busy || v.keeps(fd) {
		return
	}
	v.busy = true
	v.renew()
	go launch.Unstopped(func() { v.speak(fd) })
}

// keeps tells whether there is nothing to say by now: the terminal gives keys one by one.
func (v *linePrinter) keeps(fd int) bool {
	if len(v.lines) == 0 || v.over {
		return len(v.lines) == 0
	}
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil && t.Lflag&unix.ICANON == 0
}

func (v *linePrinter) speak(fd int) {
	for {
		v.mu.Lock()
		if v.keeps(fd) {
			v.busy, v.stuck = false, false
			_, _ = unix.Write(v.said, []byte{1, 0, 0, 0, 0, 0, 0, 0})
			v.mu.Unlock()
			return
		}
		line := v.lines[0]
		v.lines = v.lines[1:]
		v.mu.Unlock()
		sys.WriteAll(fd, line)
	}
}

// renew makes said unreadable.
func (v *linePrinter) renew() {
	var err error
	if v.said <= 0 {
		if v.said, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
			v.said = -1 // and each line is waited for to the end
		}
	}
	var n [8]byte
	_, _ = unix.Read(v.said, n[:])
}

// isSaid waits a while for all to be said: by no timer of Go's, which wants a thread.
func (v *linePrinter) isSaid() bool {
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

// finish waits until all is said, however long that takes: the command is over,
// and its record is written. A terminal whose output the command has held goes on.
func (s *streams) finish() {
	v := s.voice
	s.voice = nil
	v.mu.Lock()
	v.over = true
	v.begin(s.err)
	v.mu.Unlock()
	if v.isBusy() {
		launch.GoOn(s.err)
	}
	for v.isBusy() {
		v.isSaid()
	}
	if v.lost > 0 {
		s.say(strconv.Itoa(v.lost) + " more lines were not written: too many waited")
	}
}
