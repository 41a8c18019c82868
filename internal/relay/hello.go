package relay

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"time"
)

// The limits on a ClientHello: its size, and the time until it is complete.
const (
	maxHello  = 16<<10 + 64
	helloTime = 30 * time.Second
)

// hello is the beginning of what a client sent.
type hello struct {
	bytes  []byte // the bytes that were read, to be sent on
	tls    bool   // whether it is TLS
	name   string // the SNI host name, in lower case; with ECH the outer one
	broken string // why no name can be read although it begins as TLS
}

// readHello reads a client's ClientHello, which is checked before it is sent on. It reads
// nothing if the client does not speak TLS.
func readHello(c *net.TCPConn) (h hello, err error) {
	first, err := peek(c)
	if err != nil || first != recordHandshake && first != recordAlert {
		return h, err
	}
	_ = c.SetReadDeadline(time.Now().Add(helloTime))
	parsed := make(chan struct{})
	go func() { // its large stack is freed before the connection ends
		h, err = parseHello(c)
		close(parsed)
	}()
	<-parsed
	_ = c.SetReadDeadline(time.Time{})
	return h, err
}

// How TLS begins: a record of the handshake, of a version 3.x, with a ClientHello. Servers
// pass over warnings before it, crypto/tls as well.
const (
	recordAlert     = 0x15
	recordHandshake = 0x16
	recordHeader    = 5 // bytes: the type, the version, the length
	versionMajor    = 3
	helloType       = 1
	alertSize       = 2
)

var (
	errSeen  = errors.New("seen") // ends a handshake once the ClientHello was read
	errPlain = errors.New("no TLS")
)

// isPlain reports whether no server takes b for TLS although it begins like a TLS record. Some
// servers ignore the record's version (s2n-tls).
func isPlain(b []byte) bool {
	if len(b) <= recordHeader || b[1] == versionMajor {
		return false
	}
	length := int(b[3])<<8 | int(b[4])
	if b[0] == recordAlert {
		return length > alertSize
	}
	return length > 0 && b[recordHeader] != helloType
}

// parseHello lets crypto/tls parse a ClientHello and then aborts the handshake. err is a read
// error of the connection.
func parseHello(c net.Conn) (h hello, err error) {
	t := &overheard{Conn: c}
	err = tls.Server(t, &tls.Config{GetConfigForClient: func(i *tls.ClientHelloInfo) (*tls.Config, error) {
		h.tls, h.name = true, strings.ToLower(i.ServerName)
		return nil, errSeen
	}}).Handshake()
	h.bytes = t.got
	switch {
	case h.tls || t.err == errPlain:
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

// overheard is a net.Conn that records what is read and discards what is written.
type overheard struct {
	net.Conn
	got []byte
	err error

	at   int // the position in a record's header, or in its body after that
	left int // bytes left of the body
}

// Read records the bytes and gives them to crypto/tls with a record version that it accepts.
func (t *overheard) Read(b []byte) (int, error) {
	b = b[:min(len(b), maxHello-len(t.got))]
	if len(b) == 0 {
		return 0, errors.New("longer than 16 KiB")
	}
	n, err := t.Conn.Read(b)
	t.got = append(t.got, b[:n]...)
	if isPlain(t.got) {
		n, err = 0, errPlain
	}
	t.err = err
	t.setVersions(b[:n])
	return n, err
}

// setVersions sets the major version of the TLS records in b to 3.
func (t *overheard) setVersions(b []byte) {
	for i := range b {
		switch t.at {
		case recordHeader:
			t.left--
		case 1:
			b[i] = versionMajor
			t.at++
		case 3, 4:
			t.left = t.left<<8 | int(b[i])
			t.at++
		default:
			t.at++
		}
		if t.at == recordHeader && t.left == 0 {
			t.at = 0
		}
	}
}

// Write discards b and reports success.
func (t *overheard) Write(b []byte) (int, error) { return len(b), nil }
