package main

import (
	"strconv"
	"sync"
	"time"

	"sbx/wrap/launch"
)

// voice says what is to be said while a command runs: from a thread of its own,
// since the command can keep whoever writes to the same terminal or pipe waiting
// for as long as it likes, and the supervisor has limits to hold.
type voice struct {
	mu    sync.Mutex
	lines []string
	lost  int           // lines that found no place
	idle  chan struct{} // closed when all is said; nil where it is
	stuck bool          // nobody waits for that any more
}

// The bounds of what waits to be said, and of how long a line is waited for, so
// that it stands before what the command says next.
const (
	maxUnsaid = 1000
	attentive = 200 * time.Millisecond
)

func (v *voice) say(fd int, lines string) {
	v.mu.Lock()
	if len(v.lines) == maxUnsaid {
		v.lost++
		v.mu.Unlock()
		return
	}
	v.lines = append(v.lines, lines)
	if v.idle == nil {
		v.idle = make(chan struct{})
		go launch.Unstopped(func() { v.speak(fd) })
	}
	idle, stuck := v.idle, v.stuck
	v.mu.Unlock()
	if stuck {
		return
	}
	select {
	case <-idle:
	case <-time.After(attentive):
		v.mu.Lock()
		v.stuck = v.idle == idle
		v.mu.Unlock()
	}
}

func (v *voice) speak(fd int) {
	for {
		v.mu.Lock()
		if len(v.lines) == 0 {
			close(v.idle)
			v.idle, v.stuck = nil, false
			v.mu.Unlock()
			return
		}
		line := v.lines[0]
		v.lines = v.lines[1:]
		v.mu.Unlock()
		writeAll(fd, line)
	}
}

// finish waits until all is said, however long that takes: the command is over,
// and its record is written. A terminal whose output the command has held goes on.
func (s *streams) finish() {
	v := s.voice
	s.voice = nil
	v.mu.Lock()
	idle, lost := v.idle, v.lost
	v.mu.Unlock()
	if idle != nil {
		launch.GoOn(s.err)
		<-idle
	}
	if lost > 0 {
		s.say(strconv.Itoa(lost) + " more lines were not written, since nobody read them")
	}
}
