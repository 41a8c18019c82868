package relay

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"

	"sbx/internal/reach"
	"sbx/internal/relay/wire"
)

// wait is how long a test waits for an expected event.
const wait = 20 * time.Second

// bench is a relay with a supervisor's end, which sends to it and hears from it. Its sockets are on
// loopback, whose IPv4 addresses are all local, as in a sandbox.
type bench struct {
	t       testing.TB
	control *net.UnixConn
	led     int // ports
	dnsPort int
	inside  []uint16   // published ports
	host    []net.Addr // where the published ports are on the host
	doors   []net.Addr
	over    chan error

	mu    sync.Mutex
	heard []any
	more  chan struct{} // closed when a message has arrived
	token uint32
}

// start runs a relay with these rules.
func start(t testing.TB, o Options, rules ...string) *bench {
	t.Helper()
	return startPublishing(t, o, nil, rules...)
}

// startPublishing is start with loopback ports, in place of a sandbox's, that are published.
func startPublishing(t testing.TB, o Options, inside []uint16, rules ...string) *bench {
	t.Helper()
	ours, theirs := pair(t)
	b := &bench{t: t, control: ours, inside: inside, over: make(chan error, 1), more: make(chan struct{})}
	if o.Connections == 0 {
		o.Connections = maxConnections
	}
	go func() { b.over <- Run(theirs, o) }()
	b.begin(rules)
	t.Cleanup(b.end)
	return b
}

// pair returns a supervisor's end and a relay's.
func pair(t testing.TB) (ours *net.UnixConn, theirs *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	file := os.NewFile(uintptr(fds[1]), "supervisor")
	defer file.Close()
	conn, err := net.FileConn(file)
	must(t, err)
	return conn.(*net.UnixConn), os.NewFile(uintptr(fds[0]), "relay")
}

// begin passes rules and sockets to the relay.
func (b *bench) begin(rules []string) {
	b.t.Helper()
	for _, r := range rules {
		b.send(wire.AppendRule(nil, r))
	}
	file := func(s interface{ File() (*os.File, error) }) int {
		f, err := s.File()
		must(b.t, err)
		b.t.Cleanup(func() { f.Close() })
		return int(f.Fd())
	}
	for _, port := range b.inside {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		must(b.t, err)
		defer l.Close()
		b.host = append(b.host, l.Addr())
		_, _, err = b.control.WriteMsgUnix(wire.AppendPublish(nil, port), unix.UnixRights(file(l.(*net.TCPListener))), nil)
		must(b.t, err)
	}
	led, err := net.Listen("tcp4", "0.0.0.0:0")
	must(b.t, err)
	defer led.Close()
	var tcp net.Listener
	var udp *net.UDPConn
	for range 50 { // another program may have the UDP port of a free TCP port
		tcp, err = net.Listen("tcp4", "0.0.0.0:0")
		must(b.t, err)
		defer tcp.Close()
		b.dnsPort = tcp.Addr().(*net.TCPAddr).Port
		if udp, err = net.ListenUDP("udp4", &net.UDPAddr{Port: b.dnsPort}); err == nil {
			break
		}
	}
	must(b.t, err)
	defer udp.Close()
	b.led = led.Addr().(*net.TCPAddr).Port
	var fds []int
	for _, s := range []interface{ File() (*os.File, error) }{led.(*net.TCPListener), udp, tcp.(*net.TCPListener)} {
		fds = append(fds, file(s))
	}
	flags := []byte{byte(wire.KindSockets), 1, 0, 1, 1, 0, 0, 1, 1, 1, 1}
	for _, family := range []struct {
		domain int
		at     string
	}{{unix.AF_INET, "127.0.0.1:0"}, {unix.AF_INET6, "[::1]:0"}} {
		l, err := net.Listen("tcp", family.at)
		if err != nil && family.domain == unix.AF_INET6 { // the host has no IPv6
			flags = append(flags[:9], 0, 0)
			continue
		}
		must(b.t, err)
		defer l.Close()
		b.doors = append(b.doors, l.Addr())
		fd, err := unix.Socket(family.domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		must(b.t, err)
		defer unix.Close(fd)
		fds = append(fds, file(l.(*net.TCPListener)), fd)
	}
	_, _, err = b.control.WriteMsgUnix(flags, unix.UnixRights(fds...), nil)
	must(b.t, err)
	go b.hear()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// end ends the run as the supervisor does.
func (b *bench) end() {
	b.control.CloseWrite()
	select {
	case err := <-b.over:
		if err != nil {
			b.t.Errorf("the relay ends with %v", err)
		}
	case <-time.After(wait):
		b.t.Error("the relay does not end")
	}
	b.control.Close()
}

func (b *bench) send(packet []byte) {
	b.t.Helper()
	_, err := b.control.Write(packet)
	must(b.t, err)
}

func (b *bench) hear() {
	packet := make([]byte, wire.Max)
	for {
		n, err := b.control.Read(packet)
		if err != nil {
			return
		}
		var m any = "a packet that is none"
		switch wire.Kind(packet[0]) {
		case wire.KindNamed:
			m, _ = wire.ReadNamed(packet[:n])
		case wire.KindRefused:
			m, _ = wire.ReadRefused(packet[:n])
		case wire.KindEnded:
			m, _ = wire.ReadEnded(packet[:n])
		}
		b.mu.Lock()
		b.heard = append(b.heard, m)
		close(b.more)
		b.more = make(chan struct{})
		b.mu.Unlock()
	}
}

// expect waits for a message for which find returns true.
func expect[M any](b *bench, find func(M) bool) M {
	b.t.Helper()
	deadline := time.After(wait)
	for {
		b.mu.Lock()
		for _, m := range b.heard {
			if m, ok := m.(M); ok && find(m) {
				b.mu.Unlock()
				return m
			}
		}
		more := b.more
		b.mu.Unlock()
		select {
		case <-more:
		case <-deadline:
			var m M
			b.t.Fatalf("no such %T was heard", m)
		}
	}
}

// ended waits for the end of a connection.
func (b *bench) ended(token uint32) wire.Ended {
	b.t.Helper()
	return expect(b, func(e wire.Ended) bool { return e.Token == token })
}

// connect does a connect that the supervisor allowed and redirected to the relay.
func (b *bench) connect(m wire.Expected) (*net.TCPConn, uint32) {
	b.t.Helper()
	c, n, err := b.tryConnect(m)
	must(b.t, err)
	return c, n
}

func (b *bench) tryConnect(m wire.Expected) (*net.TCPConn, uint32, error) {
	b.mu.Lock()
	b.token++
	m.Token = b.token
	b.mu.Unlock()
	if _, err := b.control.Write(m.Append(nil)); err != nil {
		return nil, 0, err
	}
	c, err := b.led4(m.Token)
	if err != nil {
		return nil, 0, err
	}
	b.t.Cleanup(func() { c.Close() })
	return c, m.Token, nil
}

// led4 connects as a helper thread of the supervisor does, and waits. The result is that of
// connect, not of the connection.
func (b *bench) led4(token uint32) (*net.TCPConn, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "led")
	defer file.Close()
	ip := wire.Token(token, false)
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: b.led, Addr: [4]byte(ip[12:])}); err != nil {
		return nil, err
	}
	c, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	c.SetDeadline(time.Now().Add(wait))
	return c.(*net.TCPConn), nil
}

// to returns a connection to an address that a rule allows.
func to(a net.Addr) wire.Expected {
	t := a.(*net.TCPAddr)
	return wire.Expected{IP: reach.IP(t.AddrPort().Addr().As16()), Port: uint16(t.Port)}
}

// server is a TCP server on loopback.
func server(t testing.TB, serve func(*net.TCPConn)) net.Addr {
	t.Helper()
	return serverAt(t, "127.0.0.1:0", serve)
}

func serverAt(t testing.TB, address string, serve func(*net.TCPConn)) net.Addr {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil && address[0] == '[' {
		t.Skip("no IPv6 here")
	}
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c.(*net.TCPConn))
			}()
		}
	}()
	return l.Addr()
}

func echo(c *net.TCPConn) { io.Copy(c, c) }

// zone is a DNS server on loopback. Its answers may change.
type zone struct {
	mu    sync.Mutex
	names map[string][]netip.Addr
	ttl   uint32
	asked map[string]int
	addr  string
	lie   func(asked string, answer []byte) []byte // nil for none
}

func newZone(t testing.TB, ttl uint32, names map[string]string) *zone {
	t.Helper()
	z := &zone{ttl: ttl, names: map[string][]netip.Addr{}, asked: map[string]int{}}
	for name, a := range names {
		z.set(name, a)
	}
	u, err := net.ListenPacket("udp4", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { u.Close() })
	z.addr = u.LocalAddr().String()
	go func() {
		b := make([]byte, 4096)
		for {
			n, from, err := u.ReadFrom(b)
			if err != nil {
				return
			}
			if reply := z.answer(b[:n]); reply != nil {
				u.WriteTo(reply, from)
			}
		}
	}()
	return z
}

func (z *zone) set(name string, addrs ...string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.names[name] = nil
	for _, a := range addrs {
		z.names[name] = append(z.names[name], netip.MustParseAddr(a))
	}
}

func (z *zone) times(name string) int {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.asked[name]
}

func (z *zone) answer(query []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	q := m.Questions[0]
	name := q.Name.String()
	name = name[:len(name)-1]
	z.mu.Lock()
	defer z.mu.Unlock()
	if q.Type == dnsmessage.TypeA {
		z.asked[name]++
	}
	addrs, ok := z.names[name]
	if !ok {
		m.RCode = dnsmessage.RCodeNameError
	}
	h := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: z.ttl}
	for _, a := range addrs {
		if a.Is4() && q.Type == dnsmessage.TypeA {
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
		} else if a.Is6() && q.Type == dnsmessage.TypeAAAA {
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	b, _ := m.Pack()
	if z.lie != nil {
		b = z.lie(name, b)
	}
	return b
}

// options returns the options of a relay whose host has that DNS server.
func (z *zone) options() Options {
	return Options{DNS: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, z.addr)
	}}
}

// ask asks the relay's resolver, over UDP at an address of loopback or over TCP.
func (b *bench) ask(network, name string, kind dnsmessage.Type) (m dnsmessage.Message) {
	b.t.Helper()
	q := dnsmessage.Message{Header: dnsmessage.Header{ID: 7, RecursionDesired: true}, Questions: []dnsmessage.Question{{
		Name: dnsmessage.MustNewName(name + "."), Type: kind, Class: dnsmessage.ClassINET,
	}}}
	query, err := q.Pack()
	must(b.t, err)
	reply, err := b.exchange(network, query)
	must(b.t, err)
	must(b.t, m.Unpack(reply))
	if m.ID != 7 || !m.Response {
		b.t.Fatalf("%s is no answer: %v", name, m.GoString())
	}
	return m
}

func (b *bench) exchange(network string, query []byte) ([]byte, error) {
	c, err := net.Dial(network, net.JoinHostPort("127.0.77.53", strconv.Itoa(b.dnsPort)))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(wait))
	if network == "udp4" {
		if _, err := c.Write(query); err != nil {
			return nil, err
		}
		reply := make([]byte, 4096)
		n, err := c.Read(reply)
		return reply[:n], err
	}
	if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(query))), query...)); err != nil {
		return nil, err
	}
	var length [2]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		return nil, err
	}
	reply := make([]byte, binary.BigEndian.Uint16(length[:]))
	_, err = io.ReadFull(c, reply)
	return reply, err
}

// pooled asks for a name's address and reads what the address stands for, as a supervisor does.
func (b *bench) pooled(name string, port int) wire.Expected {
	b.t.Helper()
	m := b.ask("udp4", name, dnsmessage.TypeA)
	if m.RCode != dnsmessage.RCodeSuccess || len(m.Answers) != 1 {
		b.t.Fatalf("%s: %v", name, m.GoString())
	}
	a := m.Answers[0].Body.(*dnsmessage.AResource).A
	ip := reach.V4(a[0], a[1], a[2], a[3])
	n, ok := wire.Pooled(ip)
	if !ok {
		b.t.Fatalf("%s has the address %v, which is none of the pool's", name, ip)
	}
	named := expect(b, func(m wire.Named) bool { return m.N == n })
	return wire.Expected{IP: ip, Port: uint16(port), Name: named.Name}
}

func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// A client asks for a name and connects to its address, and the bytes go to the host of that name
// outside.
func TestByName(t *testing.T) {
	s := server(t, echo)
	port := s.(*net.TCPAddr).Port
	z := newZone(t, 60, map[string]string{"api.example.com": "127.0.0.1"})
	b := start(t, z.options(), "*.example.com:*", "127.0.0.0/8:*")
	c, n := b.connect(b.pooled("API.example.com", port))
	_, err := c.Write([]byte("hello"))
	must(t, err)
	must(t, c.CloseWrite())
	got, err := io.ReadAll(c)
	if string(got) != "hello" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if e := b.ended(n); e != (wire.Ended{Token: n, Up: 5, Down: 5}) {
		t.Errorf("told as %+v", e)
	}
}

// If no rule allows the address that a name has outside, the connection is refused, though the
// resolver answered. This also holds if the name changes between the two (DNS rebinding).
func TestSpecialAddresses(t *testing.T) {
	var served sync.Map
	s := server(t, func(c *net.TCPConn) { served.Store("one", true) })
	port := s.(*net.TCPAddr).Port
	z := newZone(t, 0, map[string]string{"a.example.com": "127.0.0.1"})
	for name, c := range map[string]struct {
		rules   []string
		outcome wire.Outcome
	}{
		"without a rule":                   {[]string{"a.example.com:*"}, wire.Special},
		"a rule for another port":          {[]string{"a.example.com:*", "127.0.0.1:1"}, wire.Special},
		"a rule for the address (control)": {[]string{"a.example.com:*", "127.0.0.1:" + strconv.Itoa(port)}, wire.Done},
	} {
		t.Run(name, func(t *testing.T) {
			served.Clear()
			b := start(t, z.options(), c.rules...)
			conn, n := b.connect(b.pooled("a.example.com", port))
			_, err := conn.Read(make([]byte, 1))
			conn.Close()
			e := b.ended(n)
			_, reached := served.Load("one")
			if e.Outcome != c.outcome || reached != (c.outcome == wire.Done) || isReset(err) == reached {
				t.Errorf("ended as %+v; reached %v, read: %v", e, reached, err)
			}
		})
	}
}
