package relay

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"sbx/internal/reach"
	"sbx/internal/relay/wire"
)

// The limits on questions and answers.
const (
	maxQuery    = 4096 // bytes of a question
	maxAsked    = 256  // questions at once
	maxStreams  = 64   // DNS connections over TCP
	streamTime  = 10 * time.Second
	queryRate   = 200 // questions a second
	queryBurst  = 1000
	maxTold     = 500 // denied names that are reported
	answerTTL   = 60
	serverBytes = 1232 // the UDP payload size in EDNS (RFC 6891)
)

// resolver answers the DNS questions of the sandbox.
type resolver struct {
	relay   *Relay
	rate    bucket
	asked   atomic.Int64
	streams atomic.Int64

	mu   sync.Mutex
	told map[wire.Refused]bool
}

// stream serves a DNS connection over TCP.
func (s *resolver) stream(c *net.TCPConn) {
	if s.streams.Add(1) > maxStreams {
		s.streams.Add(-1)
		reset(c)
		return
	}
	s.relay.running.Go(func() {
		defer s.streams.Add(-1)
		defer func() { _ = c.Close() }()
		defer context.AfterFunc(s.relay.ctx, func() { _ = c.Close() })()
		for {
			_ = c.SetDeadline(time.Now().Add(streamTime))
			var length [2]byte
			if _, err := io.ReadFull(c, length[:]); err != nil {
				return
			}
			n := binary.BigEndian.Uint16(length[:])
			if n > maxQuery {
				return
			}
			query := make([]byte, n)
			if _, err := io.ReadFull(c, query); err != nil {
				return
			}
			reply := s.reply(query)
			if reply == nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(streamTime))
			if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
				return
			}
		}
	})
}

// reply answers a question within the limits; nil means no answer.
func (s *resolver) reply(query []byte) []byte {
	if !s.rate.take() {
		return nil
	}
	defer s.asked.Add(-1)
	if s.asked.Add(1) > maxAsked {
		return nil
	}
	return s.answer(query)
}

// answer answers a DNS message; nil means no answer.
func (s *resolver) answer(query []byte) []byte {
	var p dnsmessage.Parser
	h, err := p.Start(query)
	if err != nil || h.Response {
		return nil
	}
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: h.ID, Response: true, OpCode: h.OpCode, RecursionDesired: h.RecursionDesired, RecursionAvailable: true}}
	if h.OpCode != 0 {
		m.RCode = dnsmessage.RCodeNotImplemented
		return pack(&m)
	}
	q, err := p.Question()
	if err == nil {
		if _, more := p.Question(); !errors.Is(more, dnsmessage.ErrSectionDone) {
			err = errors.New("one question at a time")
		}
	}
	if err != nil {
		m.RCode = dnsmessage.RCodeFormatError
		return pack(&m)
	}
	m.Questions = []dnsmessage.Question{q}
	body := s.body(q, &m)
	if body != nil {
		m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: answerTTL}, Body: body}}
	}
	if edns(&p) {
		var opt dnsmessage.ResourceHeader
		_ = opt.SetEDNS0(serverBytes, m.RCode, false)
		m.Additionals = []dnsmessage.Resource{{Header: opt, Body: &dnsmessage.OPTResource{}}}
	}
	return pack(&m)
}

func pack(m *dnsmessage.Message) []byte {
	b, err := m.Pack()
	if err != nil {
		return nil
	}
	return b
}

// edns reports whether the rest of a query has an EDNS record.
func edns(p *dnsmessage.Parser) bool {
	if p.SkipAllAnswers() != nil || p.SkipAllAuthorities() != nil {
		return false
	}
	for {
		h, err := p.AdditionalHeader()
		if err != nil {
			return false
		}
		if h.Type == dnsmessage.TypeOPT {
			return true
		}
		if p.SkipAdditional() != nil {
			return false
		}
	}
}

// plain are the question types that get an empty answer: such a question carries nothing
// to a server outside (RFC 1035, 2782, 4034, 6672, 8659, 9460).
var plain = map[dnsmessage.Type]bool{
	dnsmessage.TypeNS: true, dnsmessage.TypeCNAME: true, dnsmessage.TypeSOA: true, dnsmessage.TypePTR: true, dnsmessage.TypeMX: true,
	dnsmessage.TypeSRV: true, 35: true, 39: true, 43: true, 48: true, 257: true, dnsmessage.TypeSVCB: true, dnsmessage.TypeHTTPS: true,
}

// body returns the answer to a question, nil for none, and sets the code of m.
func (s *resolver) body(q dnsmessage.Question, m *dnsmessage.Message) dnsmessage.ResourceBody {
	name, ok := hostName(q.Name.String())
	if q.Class != dnsmessage.ClassINET {
		m.RCode = dnsmessage.RCodeRefused
		return nil
	}
	if strings.HasSuffix(name, ".in-addr.arpa") || strings.HasSuffix(name, ".ip6.arpa") {
		return s.reverse(q.Type, name, m)
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		switch q.Type {
		case dnsmessage.TypeA:
			return &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}
		case dnsmessage.TypeAAAA:
			return &dnsmessage.AAAAResource{AAAA: [16]byte{15: 1}}
		}
		return nil
	}
	if !ok || !s.relay.rules.Asks(name) {
		m.RCode = dnsmessage.RCodeNameError
		if !ok || !s.relay.rules.Asks(serviceHost(name)) {
			s.refused(name, q.Type)
		}
		return nil
	}
	switch {
	case q.Type == dnsmessage.TypeA || q.Type == dnsmessage.TypeAAAA:
		return s.address(q.Type, name, m)
	case !plain[q.Type]:
		m.RCode = dnsmessage.RCodeRefused
		s.refused(name, q.Type)
	}
	return nil
}

// serviceHost returns the host in a service name such as _http._tcp.example.com, which apt asks for
// before the host.
func serviceHost(name string) string {
	for strings.HasPrefix(name, "_") {
		_, name, _ = strings.Cut(name, ".")
	}
	return name
}

// address answers with the pool address of an allowed name, if the name exists outside. It
// asks no server if the proxy resolves the name, or if only some programs inside may reach
// it: then even the question could carry data out.
func (s *resolver) address(kind dnsmessage.Type, name string, m *dnsmessage.Message) dnsmessage.ResourceBody {
	s.relay.control.poll() // handles what the supervisor sent before the question came
	if !s.relay.Proxy.Resolves(name) && !s.relay.unasked.Load() {
		if _, err := s.relay.outside.lookup(name); err != nil {
			m.RCode = dnsmessage.RCodeServerFailure
			s.refused(name, wire.TypeA)
			var e *net.DNSError
			if errors.As(err, &e) && e.IsNotFound {
				m.RCode = dnsmessage.RCodeNameError
			}
			return nil
		}
	}
	if kind != dnsmessage.TypeA {
		return nil
	}
	n, ok := s.relay.names.assign(name, s.relay.control)
	if !ok {
		m.RCode = dnsmessage.RCodeServerFailure
		return nil
	}
	ip := wire.Pool(n)
	return &dnsmessage.AResource{A: [4]byte(ip[12:])}
}

// reverse answers a question for the name of an address; addresses of the pool have one.
func (s *resolver) reverse(kind dnsmessage.Type, name string, m *dnsmessage.Message) dnsmessage.ResourceBody {
	parts := strings.Split(strings.TrimSuffix(name, ".in-addr.arpa"), ".")
	if len(parts) == 4 && kind == dnsmessage.TypePTR {
		ip, _ := reach.ParseIP(parts[3] + "." + parts[2] + "." + parts[1] + "." + parts[0])
		host := ""
		if n, ok := wire.Pooled(ip); ok {
			host, _ = s.relay.names.nameOf(n)
		} else if ip == reach.V4(127, 0, 0, 1) {
			host = "localhost"
		}
		if host != "" {
			if ptr, err := dnsmessage.NewName(host + "."); err == nil {
				return &dnsmessage.PTRResource{PTR: ptr}
			}
		}
	}
	m.RCode = dnsmessage.RCodeNameError
	return nil
}

// refused reports a question without an answer to the supervisor, once. For an allowed
// name that has no address outside, the type is A.
func (s *resolver) refused(name string, kind dnsmessage.Type) {
	what := wire.Refused{Name: shown(name), Type: uint16(kind)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told[what] || len(s.told) == maxTold {
		return
	}
	if s.told == nil {
		s.told = map[wire.Refused]bool{}
	}
	s.told[what] = true
	_ = s.relay.control.send(what.Append(nil))
}

// bucket is a rate limit: queryRate a second, with bursts of queryBurst.
type bucket struct {
	mu   sync.Mutex
	left float64
	last time.Time
}

func (b *bucket) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.last.IsZero() {
		b.left = queryBurst
	} else {
		b.left = min(b.left+now.Sub(b.last).Seconds()*queryRate, queryBurst)
	}
	b.last = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}
