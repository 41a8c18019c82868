package listen

import (
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/reach"
	"sbx/internal/relay/wire"
)

// Egress is the supervisor's side of the relay, a process outside the sandbox that makes
// the connections that network.allow permits.
type Egress struct {
	FD  int         // the socket to the relay; -1 once the relay is gone
	V6  bool        // the relay listens on IPv6 addresses as well
	May reach.Reach // the rules of network.allow
	// Hosts returns the names that the host's own table has for an address.
	Hosts func(reach.IP) []string
	// Refused is called for each name whose look-up was denied, Ended for each connection
	// that is over (led is nil if expect was not called for it), CameIn for each
	// connection to the nth published port, Lost once the relay is gone.
	Refused func(*wire.Refused)
	Ended   func(led *Relayed, m *wire.Ended)
	CameIn  func(n int, m *wire.Ended)
	Lost    func()

	relayed
	used      bool // the relay was sent a connection or has sent a message
	isUnasked bool // the relay looks up a name only once a program connects to it
	buf       [wire.Max]byte
}

// relayed holds the names and connections that supervisor and relay refer to by numbers.
type relayed struct {
	names    map[uint32]string   // by the number of the pool address that stands for the name
	expected map[uint32]*Relayed // by token
	next     uint32              // the next token
}

// Relayed is a connection that the relay makes.
type Relayed struct {
	Host    string // the name or address that the program requested
	Port    int
	PID     int
	Program string
}

// maxLed is the most connections that Egress remembers.
const maxLed = 1 << 16

// Hear reads the relay's pending messages without waiting. It returns false once the
// relay is gone.
func (e *Egress) Hear() bool {
	for e.FD >= 0 {
		n, err := unix.Read(e.FD, e.buf[:])
		switch {
		case err == unix.EAGAIN:
			return true
		case err == unix.EINTR:
		case n <= 0:
			e.markGone()
		default:
			e.handle(e.buf[:n])
		}
	}
	return false
}

func (e *Egress) markGone() {
	e.FD = -1
	e.Lost()
}

// Idle reports whether the relay is still unused.
func (e *Egress) Idle() bool {
	e.Hear()
	return !e.used
}

func (e *Egress) handle(b []byte) {
	e.used = true
	if m, ok := wire.ReadNamed(b); ok && m.N != 0 && m.N <= wire.PoolSize {
		if e.names == nil {
			e.names = map[uint32]string{}
		}
		e.names[m.N] = m.Name
	} else if m, ok := wire.ReadRefused(b); ok {
		e.Refused(&m)
	} else if m, ok := wire.ReadEnded(b); ok {
		if n, in := wire.PublishedOf(m.Token); in {
			e.CameIn(n, &m)
			return
		}
		led := e.expected[m.Token]
		if m.Outcome == wire.Unknown {
			led = nil
		} else {
			delete(e.expected, m.Token)
		}
		if led != nil || m.Outcome != wire.Unmade { // the end of a forgotten connection that was never made does not count
			e.Ended(led, &m)
		}
	}
}

// Open calls f for each connection whose end the relay has not reported.
func (e *Egress) Open(f func(*Relayed)) {
	for _, led := range e.expected {
		f(led)
	}
}

// unasked tells the relay to look up a name only once a program connects to it (on), or
// to look names up when they are queried, as it does by default (off).
func (e *Egress) unasked(on bool) unix.Errno {
	if e.isUnasked == on || e.FD < 0 {
		return 0
	}
	if e.say(wire.AppendNoLookups(nil, on)) != nil {
		return unix.EAGAIN
	}
	e.isUnasked = on
	return 0
}

// allowed reports whether a rule of network.allow and permitted allow a connection. name is
// the name that the relay should connect to, "" for the address.
func (e *Egress) allowed(ip reach.IP, port int, permitted func(name string) bool) (name string, ok bool) {
	var names []string
	n, pooled := wire.Pooled(ip)
	switch {
	case port == 0:
		return "", false
	case pooled:
		names = []string{e.names[n]}
	case !ip.Loopback():
		names = e.Hosts(ip)
	}
	for i := range e.May {
		one := e.May[i : i+1]
		if _, ok := one.Addr(ip, port); ok && !pooled && permitted("") {
			return "", true
		}
		for _, name := range names {
			if _, ok := one.Name(name, port); ok && permitted(name) {
				return name, true
			}
		}
	}
	return "", false
}

// host returns the name that an address of the pool stands for, else the address.
func (e *Egress) host(ip reach.IP) string {
	if n, ok := wire.Pooled(ip); ok && e.names[n] != "" {
		return e.names[n]
	}
	return ip.String()
}

// sayTime is how long say waits for room in the socket to the relay. It slows down
// programs that connect faster than the relay gets processor time.
const sayTime = time.Second

// say sends the relay a packet. While it waits it reads the relay's messages: the relay
// reads nothing as long as it cannot send.
func (e *Egress) say(packet []byte) error {
	for until := time.Now().Add(sayTime); ; {
		err := unix.Send(e.FD, packet, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
		left := time.Until(until)
		if err != unix.EAGAIN || left <= 0 {
			return err
		}
		pf := []unix.PollFd{{Fd: int32(e.FD), Events: unix.POLLIN | unix.POLLOUT}}
		_, _ = unix.Poll(pf, int(left.Milliseconds())+1)
		if pf[0].Revents&unix.POLLOUT == 0 {
			e.Hear()
		}
	}
}

// forget drops a connection whose connect failed: the relay will not report it.
func (e *Egress) forget(token uint32) { delete(e.expected, token) }

// expect tells the relay to expect a connection and returns the token that identifies it.
func (e *Egress) expect(m *wire.Expected, led *Relayed) (token uint32, errno unix.Errno) {
	m.Token = e.next
	switch e.say(m.Append(nil)) {
	case nil:
	case unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM, unix.EINTR:
		return 0, unix.EAGAIN
	default:
		return 0, unix.ECONNREFUSED // the relay is gone, as Hear will find
	}
	if e.expected == nil {
		e.expected = map[uint32]*Relayed{}
	}
	for old := range e.expected { // most likely a connection that never reached the relay
		if len(e.expected) < maxLed {
			break
		}
		delete(e.expected, old)
	}
	e.used = true
	e.expected[e.next] = led
	e.next = (e.next + 1) % wire.Tokens
	return m.Token, 0
}
