package broker

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The bounds of the doors.
const (
	maxConns  = 64
	maxHeader = 16 << 10
	maxBody   = 1 << 20

	headerTime = 5 * time.Second  // for the headers of a request
	bodyTime   = 10 * time.Second // for all of it
	idleTime   = 10 * time.Second // between two of them
	answerTime = 10 * time.Second // for a part of an answer to be read
)

// places are those of connections, of which there is a number at once. One that makes no
// call gives way to a new one, the oldest first: who opens a thousand and says nothing
// keeps nobody out.
type places struct {
	most     int
	patience time.Duration // with who reads no answer

	mu    sync.Mutex
	freed *sync.Cond
	open  []*slot
}

func newPlaces(most int, patience time.Duration) *places {
	p := &places{most: most, patience: patience}
	p.freed = sync.NewCond(&p.mu)
	return p
}

// take gives a connection a place.
func (p *places) take(c net.Conn) *slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.open) >= p.most {
		idle := slices.IndexFunc(p.open, func(h *slot) bool { return !h.calls })
		if idle < 0 {
			p.freed.Wait()
			continue
		}
		_ = p.open[idle].Conn.Close()
		p.open = slices.Delete(p.open, idle, idle+1)
	}
	h := &slot{Conn: c, places: p}
	p.open = append(p.open, h)
	return h
}

// limited is a listener whose connections have places. The library's own keeps the server
// from ending its side of a connection first, so that an answer to too long a request is
// lost.
type limited struct {
	net.Listener
	places *places
}

// Accept waits for a connection and for a place.
func (l limited) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.places.take(c), nil
}

// slot is a connection that has a place.
type slot struct {
	net.Conn
	places *places
	calls  bool // it makes a call, and keeps its place until that is answered
}

// Write waits no longer than the places' patience for the other side to read. The
// server's own deadline would begin with the request, and a call may take long.
func (c *slot) Write(b []byte) (int, error) {
	_ = c.Conn.SetWriteDeadline(time.Now().Add(c.places.patience))
	return c.Conn.Write(b)
}

// Close gives the place back.
func (c *slot) Close() error {
	c.places.mu.Lock()
	c.places.open = slices.DeleteFunc(c.places.open, func(h *slot) bool { return h == c })
	c.places.freed.Signal()
	c.places.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite ends what is sent, and lets what comes be read.
func (c *slot) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// call keeps a request's place until it is answered; it is false where that was given
// away already.
func call(r *http.Request) bool {
	c := r.Context().Value(connKey{}).(*slot)
	c.places.mu.Lock()
	defer c.places.mu.Unlock()
	c.calls = slices.Contains(c.places.open, c)
	return c.calls
}

// connKey is where a request has its connection.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// answered lets a connection whose answer was sent give way.
func answered(c net.Conn, s http.ConnState) {
	if h := c.(*slot); s == http.StateIdle {
		h.places.mu.Lock()
		h.calls = false
		h.places.freed.Signal()
		h.places.mu.Unlock()
	}
}
