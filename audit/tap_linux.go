package audit

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"sbx/audit/agent"
	"sbx/internal/sys"
)

// Tap copies an agent's stdout to the caller's, unchanged and at once, and has the stream's reader
// read it too. A slow reader slows the agent down; nothing is dropped.
type Tap struct {
	Wake int // an eventfd that is readable when Next has something

	from, to int
	mu       sync.Mutex
	stream   *agent.Stream
	events   []TapEvent
	done     bool
}

// TapEvent is an event in the stream that cannot wait for the end of the stream.
type TapEvent struct {
	Turn int         // the number of a turn that has begun; 0 for none
	Wish *agent.Wish // a requested tool; nil for none
	Done bool        // the stream has ended
}

// maxTapEvents bounds the events that wait for Next; when there are more the agent waits.
const maxTapEvents = 1 << 10

// tapBuffer is how many bytes are read at once; widen asks the pipes to hold as many.
const tapBuffer = 256 << 10

// NewTap makes a tap that copies to the descriptor to. write is the end that becomes the agent's
// stdout; call Start after closing the caller's copy of it.
func NewTap(s func(agent.Hooks) (*agent.Stream, bool), to int) (t *Tap, write int, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, -1, err
	}
	widen(ends[0])
	widen(to)
	wake, err := sys.Event()
	if err != nil {
		unix.Close(ends[0])
		unix.Close(ends[1])
		return nil, -1, err
	}
	t = &Tap{Wake: wake, from: ends[0], to: to}
	stream, ok := s(agent.Hooks{
		Turn: func(n int) { t.add(TapEvent{Turn: n}) },
		Tool: func(w agent.Wish) { t.add(TapEvent{Wish: &w}) },
	})
	if !ok {
		t.Close()
		unix.Close(ends[0])
		unix.Close(ends[1])
		return nil, -1, unix.EINVAL
	}
	t.stream = stream
	return t, ends[1], nil
}

// widen makes a pipe large enough for a whole piece. With the usual 64 KiB a process that passes
// pieces on would wait four times for each. If it fails, or fd is not a pipe, the tap is only
// slower.
func widen(fd int) {
	if size, err := unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0); err == nil && size < tapBuffer {
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, tapBuffer)
	}
}

// tapBuffers is how many pieces may be copied and not yet read.
const tapBuffers = 4

// TapThreads is how many threads a tap uses.
const TapThreads = 2

// Start begins to copy the stream, on one thread, and to read it, on another.
func (t *Tap) Start() {
	full, free := make(chan []byte, tapBuffers), make(chan []byte, tapBuffers)
	for range tapBuffers {
		free <- nil // copy makes the buffer, since most streams need only one
	}
	go t.copy(full, free)
	go t.read(full, free)
}

// ownThread keeps a goroutine on a thread of its own with the usual timer slack. The threads of
// this program's runtime have a large one, which makes a start cheaper, but would delay each wait
// of these goroutines by a tick.
func ownThread() {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 50_000, 0, 0, 0) // it accepts any number
}

// copy copies the stream, piece by piece.
func (t *Tap) copy(full chan<- []byte, free <-chan []byte) {
	ownThread()
	for buf := range free {
		if buf == nil {
			buf = make([]byte, tapBuffer)
		}
		n, err := unix.Read(t.from, buf[:tapBuffer])
		for err == unix.EINTR {
			n, err = unix.Read(t.from, buf[:tapBuffer])
		}
		if n <= 0 || err != nil || !t.pass(buf[:n]) {
			break
		}
		full <- buf[:n]
	}
	unix.Close(t.from) // if the caller's end is gone, the agent gets the same error as without sbx
	close(full)
}

// read gives each piece to the stream's reader.
func (t *Tap) read(full <-chan []byte, free chan<- []byte) {
	ownThread()
	for buf := range full {
		t.mu.Lock()
		_, _ = t.stream.Write(buf) // it never fails
		t.mu.Unlock()
		free <- buf
		for t.full() { // the supervisor is behind, so the agent has to wait, too
			_, _ = unix.Poll(nil, 1)
		}
	}
	t.mu.Lock()
	_ = t.stream.Close() // it never fails
	t.done = true
	t.events = append(t.events, TapEvent{Done: true})
	t.mu.Unlock()
	sys.Ring(t.Wake)
}

// pass writes all of b; false if nothing reads any longer.
func (t *Tap) pass(b []byte) bool {
	for len(b) > 0 {
		n, err := unix.Write(t.to, b)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN: // the caller's descriptor is non-blocking
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(t.to), Events: unix.POLLOUT}}, -1)
		case err != nil || n <= 0:
			return false
		default:
			b = b[n:]
		}
	}
	return true
}

// add is called with the lock held, from within the stream's Write.
func (t *Tap) add(e TapEvent) {
	t.events = append(t.events, e)
	sys.Ring(t.Wake)
}

func (t *Tap) full() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.events) >= maxTapEvents
}

// Next returns the events since the last call.
func (t *Tap) Next() []TapEvent {
	sys.Hush(t.Wake)
	t.mu.Lock()
	defer t.mu.Unlock()
	events := t.events
	t.events = nil
	return events
}

// Done reports whether the stream has ended and was copied completely.
func (t *Tap) Done() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done
}

// With lets f use the stream while nothing is written to it.
func (t *Tap) With(f func(*agent.Stream)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(t.stream)
}

// Close frees the eventfd. The pipe closes at its end.
func (t *Tap) Close() { unix.Close(t.Wake) }
