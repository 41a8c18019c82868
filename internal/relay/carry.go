package relay

import (
	"context"
	"errors"
	"net"
	"net/netip"

	"sbx/internal/reach"
	"sbx/internal/relay/wire"
)

// carry connects to the destination m and copies bytes both ways until the connection ends.
func (r *Relay) carry(in *net.TCPConn, m *wire.Expected) (e wire.Ended) {
	defer r.bounded(in)()
	out, early, err := r.reach(m)
	if err != nil {
		reset(in)
		e.Outcome, e.Detail = wire.NoAnswer, err.Error()
		var f *failure
		if errors.As(err, &f) {
			e.Outcome = f.outcome
		}
		return e
	}
	defer r.bounded(out)()
	return join(in, out, m, early)
}

// bounded resets connection c when the run ends; letGo cancels that.
func (r *Relay) bounded(c *net.TCPConn) (letGo func() bool) {
	return context.AfterFunc(r.ctx, func() { reset(c) })
}

// join copies bytes both ways. It passes on a half-close, after which the other direction may
// continue; an error on one side resets the other.
func join(in, out *net.TCPConn, m *wire.Expected, early []byte) (e wire.Ended) {
	broken := func() {
		reset(in)
		reset(out)
	}
	down := make(chan struct{})
	go func() {
		defer close(down)
		n, err := write(in, early)
		e.Down = n
		if err == nil {
			var more uint64
			more, err = move(in, out)
			e.Down += more
		}
		if err != nil || in.CloseWrite() != nil {
			broken()
		}
	}()
	up, err := send(in, out, m, &e)
	e.Up = up
	if err != nil || out.CloseWrite() != nil {
		broken()
	}
	<-down
	_ = in.Close()
	_ = out.Close()
	return e
}

// send copies what the command sends, after checking that a TLS ClientHello names m.Name.
func send(in, out *net.TCPConn, m *wire.Expected, e *wire.Ended) (up uint64, err error) {
	if m.Name != "" {
		h, err := readHello(in)
		if err != nil {
			return 0, err
		}
		switch {
		case h.broken != "":
			e.Outcome, e.Detail = wire.Garbled, h.broken
			return 0, errFronted
		case h.name != "" && h.name != m.Name:
			e.Outcome, e.Detail = wire.Fronted, h.name
			return 0, errFronted
		case h.name == "" && (h.tls || m.Port == portTLS):
			e.NoSNI = true
		}
		if up, err = write(out, h.bytes); err != nil {
			return up, err
		}
	}
	more, err := move(out, in)
	return up + more, err
}

func write(c *net.TCPConn, b []byte) (uint64, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err := c.Write(b)
	return uint64(n), err
}

var errFronted = errors.New("TLS asks for another name")

const portTLS = 443

// reach connects to m, directly or through the proxy. early holds bytes already received.
func (r *Relay) reach(m *wire.Expected) (out *net.TCPConn, early []byte, err error) {
	if r.Proxy.For(m) {
		return r.Proxy.connect(r.ctx, m)
	}
	if m.Name == "" {
		out, err = dial(r.ctx, []netip.Addr{addr(m.IP)}, m.Port)
		return out, nil, err
	}
	found, err := r.outside.lookup(m.Name)
	if err != nil {
		return nil, nil, &failure{wire.NoName, err.Error()}
	}
	rules := r.rules
	if m.Plain {
		rules = nil
	}
	allowed, why := r.allowed(rules, found, m.Port)
	if len(allowed) == 0 {
		return nil, nil, &failure{wire.Special, why}
	}
	out, err = dial(r.ctx, allowed, m.Port)
	return out, nil, err
}

// allowed returns those of the found addresses to which a name may resolve; why is the
// reason for one that it left out.
func (r *Relay) allowed(rules reach.Reach, found []netip.Addr, port uint16) (list []netip.Addr, why string) {
	for _, a := range found {
		ip := reach.IP(a.As16())
		what := reach.Special(ip)
		if what == "" && r.Own != nil {
			what = r.Own(ip)
		}
		if what != "" {
			if _, ok := rules.Addr(ip, int(port)); !ok {
				why = ip.String() + ": " + what
				continue
			}
		}
		list = append(list, a)
	}
	return list, why
}
