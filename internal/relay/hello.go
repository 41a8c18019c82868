package relay

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"time"
)

// How much and for how long a ClientHello may be.
const (
	maxHello  = 16<<10 + 64
	helloTime = 30 * time.Second
)

// hello is what a client said first.
type hello struct {
	bytes  []byte // what was read, to be sent on
	tls    bool   // it is TLS
	name   string // the name that TLS asks for, in lower case; the outer one of ECH
	broken string // it begins as TLS, and no name can be read: why
}

// readHello reads what a client says first, as far as must be known before it is sent on:
// nothing where it is no TLS.
func readHello(c *net.TCPConn) (h hello, err error) {
	first, err := peek(c)
	if err != nil || first != recordHandshake && first != recordAlert {
		return h, err
	}
	_ = c.SetReadDeadline(time.Now().Add(helloTime))
	parsed := make(chan struct{})
	go func() { // so that the stack that this takes is not the connection's for its life
		h, err = parseHello(c)
		close(parsed)
	}()
	<-parsed
	_ = c.SetReadDeadline(time.Time{})
	return h, err
}

// How TLS begins: a record of the handshake, of a version 3.x. Servers pass over warnings
// before it, crypto/tls as well.
const (
	recordAlert     = 0x15
	recordHandshake = 0x16
	versionMajor    = 3
)

// errSeen ends a handshake once the ClientHello was read.
var errSeen = errors.New("seen")

// parseHello has crypto/tls read a ClientHello, which then goes no further. The error is
// the connection's.
func parseHello(c net.Conn) (h hello, err error) {
	t := &overheard{Conn: c}
	err = tls.Server(t, &tls.Config{GetConfigForClient: func(i *tls.ClientHelloInfo) (*tls.Config, error) {
		h.tls, h.name = true, strings.ToLower(i.ServerName)
		return nil, errSeen
	}}).Handshake()
	h.bytes = t.got
	switch {
	case h.tls || len(t.got) > 1 && t.got[1] != versionMajor:
		return h, nil
	case t.err != nil:
		return h, t.err
	}
	h.tls, h.broken = true, "no ClientHello"
	if err != nil {
		h.broken += ": " + err.Error()
	}
	return h, nil
}

// overheard is a connection from which is read and to which nothing is written.
type overheard struct {
	net.Conn
	got []byte
	err error
}

// Read keeps what was read.
func (t *overheard) Read(b []byte) (int, error) {
	b = b[:min(len(b), maxHello-len(t.got))]
	if len(b) == 0 {
		return 0, errors.New("longer than 16 KiB")
	}
	n, err := t.Conn.Read(b)
	t.got, t.err = append(t.got, b[:n]...), err
	return n, err
}

// Write says that all went well.
func (t *overheard) Write(b []byte) (int, error) { return len(b), nil }
