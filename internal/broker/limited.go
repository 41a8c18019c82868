package broker

import (
	"net"
	"sync"
)

// limited is a listener that has a number of connections open at once. The library's own
// keeps the server from ending its side of a connection first, so that an answer to too
// long a request is lost.
type limited struct {
	net.Listener
	slots chan struct{}
}

// Accept waits for a place and for a connection.
func (l limited) Accept() (net.Conn, error) {
	l.slots <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &held{Conn: c, release: sync.OnceFunc(func() { <-l.slots })}, nil
}

// held is a connection that has a place.
type held struct {
	net.Conn
	release func()
}

// Close gives the place back.
func (c *held) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// CloseWrite ends what is sent, and lets what comes be read.
func (c *held) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
