package listen

import (
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

// Limits on DNS queries.
const (
	maxQuery   = 512 // bytes (RFC 1035, 4.2.1)
	maxTurn    = 64  // queries per call of Hear
	maxLookups = 500 // answers per second
)

// Lookups is the DNS server of a sandbox without a network: it answers every query with
// NXDOMAIN.
type Lookups struct {
	FD    int // a UDP socket with IP_PKTINFO, so that replies come from the queried address
	Asked func(name string, kind uint16)

	since    time.Time
	answered int // since then
	query    [maxQuery]byte
	beside   [64]byte
}

// Hear reads the pending queries and answers them within the limits.
func (q *Lookups) Hear() {
	for range maxTurn {
		n, beside, flags, from, err := unix.Recvmsg(q.FD, q.query[:], q.beside[:], unix.MSG_DONTWAIT)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return
		}
		if flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 || !q.may() {
			continue
		}
		if name, kind, reply, ok := denial(q.query[:n]); ok {
			q.Asked(name, kind)
			_, _ = unix.SendmsgN(q.FD, reply, q.beside[:beside], from, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		}
	}
}

// may reports whether one more answer is within maxLookups, and counts it.
func (q *Lookups) may() bool {
	if now := time.Now(); now.Sub(q.since) >= time.Second {
		q.since, q.answered = now, 0
	}
	q.answered++
	return q.answered <= maxLookups
}

// denial parses a query and builds the NXDOMAIN reply. name is the queried name for
// display: in lower case, without the final dot, with "?" for bytes that are not
// printable ASCII.
func denial(query []byte) (name string, kind uint16, reply []byte, ok bool) {
	var p dnsmessage.Parser
	h, err := p.Start(query)
	if err != nil || h.Response || h.OpCode != 0 {
		return "", 0, nil, false
	}
	questions, err := p.AllQuestions()
	if err != nil || len(questions) != 1 {
		return "", 0, nil, false
	}
	m := dnsmessage.Message{Questions: questions, Header: dnsmessage.Header{ID: h.ID, Response: true,
		RecursionDesired: h.RecursionDesired, RecursionAvailable: true, RCode: dnsmessage.RCodeNameError}}
	if reply, err = m.Pack(); err != nil {
		return "", 0, nil, false
	}
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, strings.ToLower(strings.TrimSuffix(questions[0].Name.String(), ".")))
	return name, uint16(questions[0].Type), reply, true
}
