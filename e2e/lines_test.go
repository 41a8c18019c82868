package e2e

import (
	"bufio"
	"io"
	"strings"
	"sync"
	"time"
)

// lineReader collects lines as they arrive.
type lineReader struct {
	mu    sync.Mutex
	lines []string
	next  int // the first line that wait has not examined
	done  chan struct{}
}

func readLines(r io.Reader) *lineReader {
	l := &lineReader{done: make(chan struct{})}
	go func() {
		defer close(l.done)
		in := bufio.NewReader(r)
		for {
			s, err := in.ReadString('\n')
			if s != "" {
				l.mu.Lock()
				l.lines = append(l.lines, strings.TrimRight(s, "\r\n"))
				l.mu.Unlock()
			}
			if err != nil {
				return
			}
		}
	}()
	return l
}

// wait looks for a line among those that no earlier wait has passed.
func (l *lineReader) wait(want func(string) bool) bool {
	for end := time.Now().Add(limit / 2); time.Now().Before(end); {
		over := false
		select {
		case <-l.done:
			over = true
		default:
		}
		l.mu.Lock()
		for l.next < len(l.lines) {
			s := l.lines[l.next]
			l.next++
			if want(s) {
				l.mu.Unlock()
				return true
			}
		}
		l.mu.Unlock()
		if over {
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

func (l *lineReader) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

// drain waits for the end of the stream, as long as a command may take.
func (l *lineReader) drain() {
	select {
	case <-l.done:
	case <-time.After(limit):
	}
}
