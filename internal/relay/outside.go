package relay

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// How long an answer is cached: for its TTL, within these bounds. minKept also holds if no
// DNS server was asked (/etc/hosts).
const (
	minKept = time.Second
	maxKept = 300 * time.Second
)

const (
	lookupTime = 15 * time.Second
	maxLookups = 64   // at once
	maxAnswers = 1024 // in the cache
)

// outside resolves names with the host's files, DNS servers and search domains. It uses Go's own
// resolver, which starts no program and loads no library.
type outside struct {
	ctx  context.Context
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu      sync.Mutex
	answers map[string]*answer
	asking  int
}

// answer is what a name resolves to, once done is closed.
type answer struct {
	done  chan struct{}
	until time.Time
	addrs []netip.Addr
	err   error
}

func (a *answer) over() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// lookup resolves a name; concurrent callers share one query.
func (o *outside) lookup(name string) ([]netip.Addr, error) {
	o.mu.Lock()
	a := o.answers[name]
	if a == nil || a.over() && time.Now().After(a.until) {
		if o.asking >= maxLookups || !o.room() {
			o.mu.Unlock()
			return nil, &net.DNSError{Err: "too many names are being looked up", Name: name, IsTemporary: true}
		}
		a = &answer{done: make(chan struct{})}
		if o.answers == nil {
			o.answers = map[string]*answer{}
		}
		o.answers[name] = a
		o.asking++
		o.mu.Unlock()
		o.ask(name, a)
		o.mu.Lock()
		o.asking--
		o.mu.Unlock()
		close(a.done)
	} else {
		o.mu.Unlock()
	}
	select {
	case <-a.done:
		return a.addrs, a.err
	case <-o.ctx.Done():
		return nil, o.ctx.Err()
	}
}

// room makes space in the cache for one more answer; false if it cannot.
func (o *outside) room() bool {
	for name, a := range o.answers {
		if len(o.answers) < maxAnswers {
			break
		}
		if a.over() { // removing the oldest would be better, and is not worth a second index
			delete(o.answers, name)
		}
	}
	return len(o.answers) < maxAnswers
}

// ask asks the host's resolver.
func (o *outside) ask(name string, a *answer) {
	var t ttl
	r := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		dial := o.dial
		if dial == nil {
			dial = new(net.Dialer).DialContext
		}
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if p, ok := c.(net.PacketConn); ok { // Go's resolver takes a PacketConn for UDP
			return &ttlPacketConn{ttlConn{c, &t}, p}, nil
		}
		return &ttlConn{c, &t}, nil
	}}
	ctx, cancel := context.WithTimeout(o.ctx, lookupTime)
	defer cancel()
	a.addrs, a.err = r.LookupNetIP(ctx, "ip", name)
	kept := t.duration()
	if a.err != nil {
		kept = minKept
	}
	a.until = time.Now().Add(kept)
}

// ttl is the shortest TTL of the answers so far.
type ttl struct {
	mu   sync.Mutex
	seen bool
	min  uint32
}

func (t *ttl) duration() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.seen {
		return minKept
	}
	return min(max(time.Duration(t.min)*time.Second, minKept), maxKept)
}

// readTTLs reads the TTLs of a DNS answer.
func (t *ttl) readTTLs(b []byte) {
	var p dnsmessage.Parser
	if h, err := p.Start(b); err != nil || !h.Response || p.SkipAllQuestions() != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		h, err := p.AnswerHeader()
		if err != nil || p.SkipAnswer() != nil {
			return
		}
		if !t.seen || h.TTL < t.min {
			t.seen, t.min = true, h.TTL
		}
	}
}

// ttlConn is a connection to a DNS server that reads the TTLs of the answers.
type ttlConn struct {
	net.Conn
	ttl *ttl
}

// Read reads, and looks at a complete message.
func (w *ttlConn) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.ttl.readTTLs(b[:n])
	return n, err
}

// ttlPacketConn is a watched connection over UDP.
type ttlPacketConn struct {
	ttlConn
	packet net.PacketConn
}

// ReadFrom implements net.PacketConn.
func (p *ttlPacketConn) ReadFrom(b []byte) (int, net.Addr, error) { return p.packet.ReadFrom(b) }

// WriteTo implements net.PacketConn.
func (p *ttlPacketConn) WriteTo(b []byte, a net.Addr) (int, error) { return p.packet.WriteTo(b, a) }
