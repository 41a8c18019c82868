package broker

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The bounds of what a door accepts.
const (
	maxConns  = 64
	maxHeader = 16 << 10
	maxBody   = 1 << 20

	headerTime = 5 * time.Second  // for the headers of a request
	bodyTime   = 10 * time.Second // for a whole request
	idleTime   = 10 * time.Second // between two requests
	answerTime = 10 * time.Second // for the client to read a part of a response
)

// places bounds the number of open connections. A new connection takes the place of the
// oldest one that makes no call, so that a client that opens a thousand and sends nothing
// blocks nobody.
type places struct {
	most     int
	patience time.Duration // how long a client may take to read a response

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

// limited is a listener whose connections have places. The listener of
// golang.org/x/net/netutil hides CloseWrite, so that the server could not end its side
// first, and the response to a request that is too long would be lost.
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
	calls  bool // it makes a call and keeps its place until the response is sent
}

// Write gives the client at most places.patience to read. The server's own write deadline
// would count from the request, and a call may take long.
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

// CloseWrite ends the sending side; the receiving side stays open.
func (c *slot) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// holdPlace keeps a request's place until its response is sent; it returns false if the place was
// given to another connection.
func holdPlace(r *http.Request) bool {
	c := r.Context().Value(connKey{}).(*slot)
	c.places.mu.Lock()
	defer c.places.mu.Unlock()
	c.calls = slices.Contains(c.places.open, c)
	return c.calls
}

// connKey is the context key of a request's connection.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// freePlace frees a connection for others once its response is sent.
func freePlace(c net.Conn, s http.ConnState) {
	if h := c.(*slot); s == http.StateIdle {
		h.places.mu.Lock()
		h.calls = false
		h.places.freed.Signal()
		h.places.mu.Unlock()
	}
}
