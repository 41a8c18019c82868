package listen

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/reach"
	"sbx/internal/relay/wire"
)

// Egress is where connects are led to under network.allow: a relay outside, which
// connects in their stead.
type Egress struct {
	FD  int         // the socket to the relay; -1 once that is gone
	V6  bool        // it listens at addresses of IPv6 as well
	May reach.Reach // what may be reached
	// Hosts are the names that the host's own table has for an address.
	Hosts func(reach.IP) []string
	// Refused is told of names that were asked for and not answered, Ended of connections
	// that are over (led is nil of one that nobody meant), CameIn of those that were made
	// to the nth published port, Lost of a relay that is gone.
	Refused func(*wire.Refused)
	Ended   func(led *Relayed, m *wire.Ended)
	CameIn  func(n int, m *wire.Ended)
	Lost    func()

	relayed
	used      bool // something was led to it, or told by it
	isUnasked bool // it looks up no name before that is connected to
	buf       [wire.Max]byte
}

// relayed are the names and connections that supervisor and relay know by numbers.
type relayed struct {
	names map[uint32]string   // by the number of the pool's address that stands for it
	led   map[uint32]*Relayed // by the token
	next  uint32              // token
}

// Relayed is a connection that the relay makes.
type Relayed struct {
	Host    string // as it was asked for: a name or an address
	Port    int
	PID     int
	Program string
}

// maxLed is how many connections are remembered.
const maxLed = 1 << 16

// Hear takes what the relay has told, and says whether there may be more later.
func (e *Egress) Hear() bool {
	for e.FD >= 0 {
		n, err := unix.Read(e.FD, e.buf[:])
		switch {
		case err == unix.EAGAIN:
			return true
		case err == unix.EINTR:
		case n <= 0:
			e.lose()
		default:
			e.heard(e.buf[:n])
		}
	}
	return false
}

func (e *Egress) lose() {
	e.FD = -1
	e.Lost()
}

// Idle tells whether the relay had nothing to do so far.
func (e *Egress) Idle() bool {
	e.Hear()
	return !e.used
}

func (e *Egress) heard(b []byte) {
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
		led := e.led[m.Token]
		if m.Outcome == wire.Unknown {
			led = nil
		} else {
			delete(e.led, m.Token)
		}
		if led != nil || m.Outcome != wire.Unmade { // whose connect failed
			e.Ended(led, &m)
		}
	}
}

// Open calls f for each connection whose end the relay has not told.
func (e *Egress) Open(f func(*Relayed)) {
	for _, led := range e.led {
		f(led)
	}
}

// unasked has the relay look up no name before it is connected to, or again.
func (e *Egress) unasked(on bool) unix.Errno {
	if e.isUnasked == on || e.FD < 0 {
		return 0
	}
	if e.say(wire.AppendUnasked(nil, on)) != nil {
		return unix.EAGAIN
	}
	e.isUnasked = on
	return 0
}

// allowed tells whether a rule allows a connection, and all of those within do, and by
// which name the relay is to make it; "" for the address itself.
func (e *Egress) allowed(ip reach.IP, port int, within []*narrowed) (name string, ok bool) {
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
	permitted := func(name string) bool {
		return !slices.ContainsFunc(within, func(n *narrowed) bool { return !n.permits(ip, port, name) })
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

// host is what a person would call an address: the name that it stands for.
func (e *Egress) host(ip reach.IP) string {
	if n, ok := wire.Pooled(ip); ok && e.names[n] != "" {
		return e.names[n]
	}
	return ip.String()
}

// sayTime is how long the relay may take to have room for one more packet. A program that
// connects faster than the relay gets processor time waits for it.
const sayTime = time.Second

// say sends the relay a packet. Meanwhile it hears what the relay says, which reads nothing
// as long as that does not get through.
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

// lead has the relay expect a connection, and says by which token.
func (e *Egress) lead(m *wire.Expected, led *Relayed) (token uint32, errno unix.Errno) {
	m.Token = e.next
	switch e.say(m.Append(nil)) {
	case nil:
	case unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM, unix.EINTR:
		return 0, unix.EAGAIN
	default:
		return 0, unix.ECONNREFUSED // the relay is gone, as Hear will find
	}
	if e.led == nil {
		e.led = map[uint32]*Relayed{}
	}
	for old := range e.led { // one that never came to the relay, most likely
		if len(e.led) < maxLed {
			break
		}
		delete(e.led, old)
	}
	e.used = true
	e.led[e.next] = led
	e.next = (e.next + 1) % wire.Tokens
	return m.Token, 0
}

// directOut decides where a connect to the internet may go, under network.allow.
func (c *connector) directOut(f *pendingConnect) unix.Errno {
	e, a := c.Egress, &f.address
	ip, port, ok := a.internet()
	if !ok {
		return 0 // AF_UNSPEC, and what the kernel takes for no address
	}
	e.Hear() // a name is told of before its address is
	protocol, _ := optionOf(f.sock, unix.SO_PROTOCOL)
	action := connecting(protocol)
	tcp := action == Connect
	name, allowed := e.allowed(ip, port, f.within)
	_, pooled := wire.Pooled(ip)
	switch {
	case tcp && allowed:
		led := &Relayed{Host: cmp.Or(name, e.host(ip)), Port: port}
		led.PID, led.Program = audit.CallerOf(int(c.n.TID))
		token, errno := e.lead(&wire.Expected{IP: ip, Port: uint16(port), Name: name, Plain: len(f.within) > 0}, led)
		if errno == 0 {
			f.egress, f.token = e, token
			a.toToken(token, e.V6 && !ip.Is4())
		}
		return errno
	case (port == wire.Port || port == wire.Door) && tcp && ip.Loopback():
		return unix.ECONNREFUSED
	case protocol != unix.IPPROTO_UDP && ip.Loopback() && port != wire.DNS && len(f.within) > 0 && !c.narrowing.ownServer(f.within, ip, port):
		return unix.ECONNREFUSED
	case port == wire.DNS || ip.Loopback() || !tcp && (pooled || allowed): // where UDP leads nowhere, and resolvers sort by it
		return 0
	}
	target := Target(e.host(ip), port)
	if _, outer := e.allowed(ip, port, nil); outer {
		c.narrowing.beyond(f.within, target, false)
	} else {
		c.narrowing.beyond(f.within, target, true)
		if c.Describes {
			c.report(ByNetwork, action, target)
		}
	}
	return unix.ENETUNREACH
}

// connecting is the action of a connect by a protocol.
func connecting(protocol int) string {
	switch protocol {
	case unix.IPPROTO_TCP, unix.IPPROTO_MPTCP:
		return Connect
	case unix.IPPROTO_UDP:
		return Connect + " by UDP"
	}
	return Connect + " by protocol " + strconv.Itoa(protocol)
}

// Target is a host and a port as network.allow has them.
func Target(host string, port int) string {
	if ip, ok := reach.ParseIP(host); ok && !ip.Is4() {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(port)
}

// toToken makes it the address by which the relay knows a connection.
func (a *address) toToken(token uint32, v6 bool) {
	ip := wire.Token(token, v6)
	a.b[2], a.b[3] = wire.Port>>8, wire.Port
	if a.family() == unix.AF_INET {
		copy(a.b[4:8], ip[12:])
		return
	}
	copy(a.b[8:24], ip[:])
	clear(a.b[4:8])
	clear(a.b[24:28])
}

// forgetFailed forgets a connection that came to nothing: the relay never hears of it.
func (f *pendingConnect) forgetFailed() {
	if f.egress != nil && f.errno != 0 && f.errno != unix.EINPROGRESS {
		delete(f.egress.led, f.token)
	}
}
