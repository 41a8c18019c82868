package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"sbx/internal/reach"
	"sbx/internal/relay/wire"
)

// Options are the dependencies of a relay.
type Options struct {
	Proxy Proxy
	// DNS dials a DNS server of the host, as net.Resolver.Dial does; nil dials the address of
	// the host's configuration.
	DNS func(ctx context.Context, network, address string) (net.Conn, error)
	// Own is like reach.Special for the host's own addresses; nil means that none is.
	Own func(reach.IP) string
	// Connections is how many connections may be open at once.
	Connections int
}

// flushTime is how long the relay waits, after the run is over, to report the ends of
// connections.
const flushTime = time.Second

// Relay is the relay of one sandbox.
type Relay struct {
	Options
	control *control
	ctx     context.Context
	running sync.WaitGroup
	open    atomic.Int64 // connections
	unknown atomic.Int64 // connections that the supervisor did not announce

	orders
	names    names
	outside  outside
	inside   inside
	resolver resolver
}

// orders holds what the supervisor has sent.
type orders struct {
	rules     reach.Reach // complete when the sockets arrive
	published []published // complete when the sockets arrive
	serving   bool
	meant     expected
	unasked   atomic.Bool // a DNS question is answered without a lookup on the host; the lookup waits for the connect
}

// Run serves until the supervisor closes its end of the socket, which it takes over.
func Run(file *os.File, o Options) error {
	c, err := newControl(file)
	if err != nil {
		return err
	}
	defer func() { _ = c.conn.Close() }()
	ctx, cancel := context.WithCancel(context.Background())
	r := &Relay{Options: o, control: c, ctx: ctx}
	r.outside.dial = o.DNS
	r.outside.ctx = ctx
	c.handle = r.take
	err = c.serve()
	cancel()
	over := make(chan struct{})
	go func() {
		r.running.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-time.After(flushTime):
	}
	return err
}

// take handles one packet from the supervisor.
func (r *Relay) take(packet []byte, fds []int) error {
	files := make([]*os.File, len(fds))
	for i, fd := range fds {
		files[i] = os.NewFile(uintptr(fd), "socket")
	}
	defer func() {
		for _, f := range files { // package net works with a duplicate
			f.Close()
		}
	}()
	switch kind := wire.Kind(packet[0]); {
	case kind == wire.KindExpected:
		if m, ok := wire.ReadExpected(packet); ok {
			if old, forgotten := r.meant.add(m); forgotten {
				r.control.ended(&wire.Ended{Token: old, Outcome: wire.Unmade})
			}
			return nil
		}
	case kind == wire.KindNoLookups:
		if on, ok := wire.ReadNoLookups(packet); ok {
			r.unasked.Store(on)
			return nil
		}
	case kind == wire.KindRule && !r.serving:
		if text, ok := wire.ReadRule(packet); ok {
			e, err := reach.Parse(text)
			if err != nil {
				return fmt.Errorf("the rule %q: %w", text, err)
			}
			r.rules = append(r.rules, reach.Rule{Endpoint: e, Text: text})
			return nil
		}
	case kind == wire.KindPublish && !r.serving && len(files) == 1:
		if port, ok := wire.ReadPublish(packet); ok {
			l, err := r.listener(files[0])
			r.published = append(r.published, published{l, port})
			return err
		}
	case kind == wire.KindSockets && !r.serving:
		return r.serve(packet[1:], files)
	}
	return fmt.Errorf("the supervisor sent a packet that is none: %d bytes of kind %d", len(packet), packet[0])
}

// The sockets in the order in which they come.
const (
	tcp4 = iota
	tcp6
	udpDNS4
	tcpDNS4
	udpDNS6
	tcpDNS6
	door4 // the listening socket
	out4  // the socket that connects to it
	door6
	out6
	sockets
)

// serve takes the sockets of a packet, which has a flag for each possible one, and starts
// serving.
func (r *Relay) serve(flags []byte, files []*os.File) error {
	if len(flags) != sockets {
		return errors.New("the supervisor sent flags for other sockets")
	}
	r.serving = true
	r.resolver.relay = r
	for i, there := range flags {
		if there == 0 {
			continue
		}
		if len(files) == 0 {
			return errors.New("the supervisor sent too few sockets")
		}
		file := files[0]
		files = files[1:]
		var err error
		switch i {
		case tcp4, tcp6:
			err = r.listen(file, r.serveRedirected)
		case tcpDNS4, tcpDNS6:
			err = r.listen(file, r.resolver.stream)
		case udpDNS4, udpDNS6:
			err = r.resolver.listen(file, i == udpDNS6)
		case door4, door6:
			err = r.addDoor(file)
		case out4, out6:
			err = r.setConnector(file)
		}
		if err != nil {
			return err
		}
	}
	for n := range r.published {
		r.accept(r.published[n].at, func(c *net.TCPConn) { r.servePublished(c, n) })
	}
	return nil
}

// listen passes each connection of a listening socket to serve, which must not block.
func (r *Relay) listen(file *os.File, serve func(*net.TCPConn)) error {
	t, err := r.listener(file)
	if err == nil {
		r.accept(t, serve)
	}
	return err
}

// listener returns a listener that is closed when the run is over.
func (r *Relay) listener(file *os.File) (*net.TCPListener, error) {
	l, err := net.FileListener(file)
	if err != nil {
		return nil, err
	}
	t, ok := l.(*net.TCPListener)
	if !ok {
		_ = l.Close()
		return nil, errOther
	}
	context.AfterFunc(r.ctx, func() { _ = t.Close() })
	return t, nil
}

var errOther = errors.New("the supervisor sent a socket of another kind")

// accept passes each connection of a listener to serve.
func (r *Relay) accept(t *net.TCPListener, serve func(*net.TCPConn)) {
	r.running.Go(func() {
		for {
			c, err := t.AcceptTCP()
			switch {
			case err == nil:
				serve(c)
			case r.ctx.Err() != nil:
				return
			default: // no descriptor is free, or the client has gone
				time.Sleep(10 * time.Millisecond)
			}
		}
	})
}

// maxUnknown is how many unannounced connections are reported to the supervisor.
const maxUnknown = 100

// serveRedirected serves a connection that the supervisor redirected to the relay.
func (r *Relay) serveRedirected(in *net.TCPConn) {
	n, ok := wire.TokenOf(localIP(in))
	var m wire.Expected
	if ok {
		if m, ok = r.meant.take(n); !ok {
			r.control.poll() // the supervisor announces a connection before it is made
			m, ok = r.meant.take(n)
		}
		if !ok && r.unknown.Add(1) <= maxUnknown {
			r.control.ended(&wire.Ended{Token: n, Outcome: wire.Unknown})
		}
	}
	if !ok {
		reset(in)
		return
	}
	r.begin(in, n, r.Connections, func() wire.Ended { return r.carry(in, &m) })
}

// begin runs carry for a connection if fewer than most are open, and reports its end.
func (r *Relay) begin(c *net.TCPConn, token uint32, most int, carry func() wire.Ended) {
	if r.open.Add(1) > int64(most) {
		r.open.Add(-1)
		reset(c)
		r.control.ended(&wire.Ended{Token: token, Outcome: wire.NoAnswer, Detail: "too many connections at once"})
		return
	}
	r.running.Go(func() {
		defer r.open.Add(-1)
		e := carry()
		e.Token = token
		r.control.ended(&e)
	})
}

// localIP returns the address to which a connection was made.
func localIP(c *net.TCPConn) (ip reach.IP) {
	if a, ok := c.LocalAddr().(*net.TCPAddr); ok {
		copy(ip[:], a.IP.To16())
	}
	return ip
}
