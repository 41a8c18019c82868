package relay

import (
	"bytes"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"sbx/internal/relay/wire"
)

// The answers and reports are the same over UDP and over TCP.
func TestAnswers(t *testing.T) {
	z := newZone(t, 60, map[string]string{"api.example.com": "192.0.2.7", "old.example.com": "2001:db8::1"})
	b := start(t, z.options(), "*.example.com:443", "nowhere.test:1")
	var long strings.Builder
	for range 126 {
		long.WriteString("a.")
	}
	const ok, no, refused = dnsmessage.RCodeSuccess, dnsmessage.RCodeNameError, dnsmessage.RCodeRefused
	for _, c := range []struct {
		name   string
		kind   dnsmessage.Type
		code   dnsmessage.RCode
		answer string
		told   bool
	}{
		{"api.example.com", dnsmessage.TypeA, ok, "198.18.0.1", false},
		{"API.Example.COM", dnsmessage.TypeA, ok, "198.18.0.1", false},
		{"old.example.com", dnsmessage.TypeA, ok, "198.18.0.2", false},
		{"api.example.com", dnsmessage.TypeAAAA, ok, "", false},
		{"api.example.com", dnsmessage.TypeHTTPS, ok, "", false},
		{"api.example.com", dnsmessage.TypeSRV, ok, "", false},
		{"none.example.com", dnsmessage.TypeA, no, "", true},
		{"none.example.com", dnsmessage.TypeAAAA, no, "", false},
		{"nowhere.test", dnsmessage.TypeA, no, "", true},
		{"api.example.com", dnsmessage.TypeTXT, refused, "", true},
		{"api.example.com", dnsmessage.TypeALL, refused, "", true},
		{"api.example.com", 10, refused, "", true}, // NULL
		{"api.example.com", 65280, refused, "", true},
		{"evil.example.net", dnsmessage.TypeA, no, "", true},
		{"evil.example.net", dnsmessage.TypeTXT, no, "", true},
		{"example.com", dnsmessage.TypeA, no, "", true},
		{"aexample.com", dnsmessage.TypeA, no, "", true},
		{"_http._tcp.nowhere.test", dnsmessage.TypeSRV, no, "", false},
		{"_http._tcp.example.net", dnsmessage.TypeSRV, no, "", true},
		{"192.0.2.7", dnsmessage.TypeA, no, "", true},
		{"a\x00.example.com", dnsmessage.TypeA, no, "", true},
		{"a b.example.com", dnsmessage.TypeA, no, "", true},
		{"*.example.com", dnsmessage.TypeA, no, "", true},
		{long.String() + "x", dnsmessage.TypeA, no, "", true},
		{"localhost", dnsmessage.TypeA, ok, "127.0.0.1", false},
		{"a.localhost", dnsmessage.TypeAAAA, ok, "::1", false},
		{"localhost", dnsmessage.TypeTXT, ok, "", false},
		{"1.0.18.198.in-addr.arpa", dnsmessage.TypePTR, ok, "api.example.com.", false},
		{"9.0.18.198.in-addr.arpa", dnsmessage.TypePTR, no, "", false},
		{"1.0.0.127.in-addr.arpa", dnsmessage.TypePTR, ok, "localhost.", false},
		{"8.8.8.8.in-addr.arpa", dnsmessage.TypePTR, no, "", false},
	} {
		for _, network := range []string{"udp4", "tcp4"} {
			m := b.ask(network, c.name, c.kind)
			answer := ""
			if len(m.Answers) > 0 {
				answer = text(m.Answers[0].Body)
				if ttl := m.Answers[0].Header.TTL; ttl > 60 {
					t.Errorf("%s has a TTL of %d", c.name, ttl)
				}
			}
			if m.RCode != c.code || answer != c.answer {
				t.Errorf("%s %v over %s: %v %q, want %v %q", c.name, c.kind, network, m.RCode, answer, c.code, c.answer)
			}
		}
		if c.told {
			expect(b, func(r wire.Refused) bool {
				return r.Name == shown(strings.ToLower(c.name)) && r.Type == uint16(c.kind)
			})
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	seen := map[any]bool{}
	for _, m := range b.heard {
		if seen[m] {
			t.Errorf("%+v is told twice", m)
		}
		seen[m] = true
	}
	if want := 16; len(seen) != want+2 { // and two names that have an address
		t.Errorf("%d things are told, want %d: %+v", len(seen), want+2, b.heard)
	}
}

func text(body dnsmessage.ResourceBody) string {
	switch r := body.(type) {
	case *dnsmessage.AResource:
		return net.IP(r.A[:]).String()
	case *dnsmessage.AAAAResource:
		return net.IP(r.AAAA[:]).String()
	case *dnsmessage.PTRResource:
		return r.PTR.String()
	}
	return "?"
}

// An answer of the host's server is kept as long as its TTL says.
func TestTTL(t *testing.T) {
	z := newZone(t, 3600, map[string]string{"long.example.com": "192.0.2.1"})
	b := start(t, z.options(), "*.example.com:443")
	for range 5 {
		b.ask("udp4", "long.example.com", dnsmessage.TypeA)
	}
	if n := z.times("long.example.com"); n != 1 {
		t.Errorf("it was asked for %d times", n)
	}
	for seen, want := range map[uint32]time.Duration{0: minKept, 1: time.Second, 60: time.Minute, 300: maxKept, 1 << 31: maxKept} {
		if got := (&ttl{seen: true, min: seen}).duration(); got != want {
			t.Errorf("a TTL of %d is kept for %v, want %v", seen, got, want)
		}
	}
	var shortest ttl
	m := dnsmessage.Message{Header: dnsmessage.Header{Response: true}}
	for _, n := range []uint32{90, 30, 60} {
		h := dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName("a."), Class: dnsmessage.ClassINET, TTL: n}
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{}})
	}
	packet, err := m.Pack()
	must(t, err)
	shortest.readTTLs(packet)
	if got := shortest.duration(); got != 30*time.Second {
		t.Errorf("answers of 90, 30 and 60 seconds are kept for %v", got)
	}
}

// A name about which the host's server says nothing fails, and no other name does.
func TestServerThatFails(t *testing.T) {
	z := newZone(t, 60, map[string]string{"api.example.com": "192.0.2.7"})
	o := z.options()
	dead, err := net.ListenPacket("udp4", "127.0.0.1:0")
	must(t, err)
	dead.Close() // so that a question is refused
	o.DNS = (&zone{addr: dead.LocalAddr().String()}).options().DNS
	b := start(t, o, "api.example.com:443")
	if m := b.ask("udp4", "api.example.com", dnsmessage.TypeA); m.RCode != dnsmessage.RCodeServerFailure {
		t.Errorf("answered %v", m.GoString())
	}
	if m := b.ask("udp4", "localhost", dnsmessage.TypeA); m.RCode != dnsmessage.RCodeSuccess {
		t.Errorf("localhost is answered %v", m.GoString())
	}
}

// A false answer of the host's server fails only the name that was asked for.
func TestAnswersThatLie(t *testing.T) {
	const ok, fails, none = dnsmessage.RCodeSuccess, dnsmessage.RCodeServerFailure, dnsmessage.RCodeNameError
	for name, c := range map[string]struct {
		lie  func(answer []byte) []byte // changes an answer with one record, whose data are its last 4 bytes
		code dnsmessage.RCode
	}{
		"none (control)":           {func(b []byte) []byte { return b }, ok},
		"data that are longer":     {func(b []byte) []byte { b[len(b)-6], b[len(b)-5] = 0xff, 0xff; return b }, ok}, // an address has four bytes, whatever the length says
		"data that are shorter":    {func(b []byte) []byte { b[len(b)-5] = 1; return b }, ok},
		"more answers than there":  {func(b []byte) []byte { b[6], b[7] = 0xff, 0xff; return b }, ok}, // the answers that exist are accepted
		"fewer answers than there": {func(b []byte) []byte { b[7] = 0; return b }, none},
		"a name that leads to itself": {func(b []byte) []byte {
			at := len(b) - 16 // the record's name, which is a pointer
			b[at], b[at+1] = 0xc0, byte(at)
			return b
		}, fails},
		"half a record": {func(b []byte) []byte { return b[:len(b)-7] }, fails},
		"much behind":   {func(b []byte) []byte { return append(b, make([]byte, 60000)...) }, ok},
	} {
		t.Run(name, func(t *testing.T) {
			z := newZone(t, 60, map[string]string{"bad.example.com": "192.0.2.7", "good.example.com": "192.0.2.8"})
			z.lie = func(asked string, b []byte) []byte {
				if asked == "bad.example.com" && len(b) > 40 {
					return c.lie(b)
				}
				return b
			}
			b := start(t, z.options(), "*.example.com:443")
			// Of the failure and of AAAA, which the name does not have, Go's resolver reports
			// whichever comes first.
			m := b.ask("udp4", "bad.example.com", dnsmessage.TypeA)
			if m.RCode != c.code && (c.code != fails || m.RCode != none) {
				t.Errorf("answered %v, want %v", m.RCode, c.code)
			}
			if m := b.ask("udp4", "good.example.com", dnsmessage.TypeA); m.RCode != ok {
				t.Errorf("another name is answered %v", m.RCode)
			}
		})
	}
}

// A question over TCP with a wrong length gets no answer, and the next one is answered.
func TestStreamsThatLie(t *testing.T) {
	b := start(t, Options{}, "api.example.com:443")
	for name, sent := range map[string][]byte{
		"more than there": {0x0f, 0xff, 0, 9, 1}, "more than there may be": {0xff, 0xff, 0, 9}, "nothing": {0, 0}, "half a length": {1}, "no end": bytes.Repeat([]byte{0, 1, 0}, 1000),
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("tcp4", net.JoinHostPort("127.0.77.53", strconv.Itoa(b.dnsPort)))
			must(t, err)
			defer c.Close()
			must(t, c.SetDeadline(time.Now().Add(wait)))
			_, err = c.Write(sent)
			must(t, err)
			c.(*net.TCPConn).CloseWrite() // it may be closed by now
			if got, err := io.ReadAll(c); len(got) > 0 || err != nil && !isReset(err) {
				t.Errorf("answered %x, %v", got, err)
			}
			if m := b.ask("tcp4", "localhost", dnsmessage.TypeA); m.RCode != dnsmessage.RCodeSuccess {
				t.Errorf("the next question is answered %v", m.GoString())
			}
		})
	}
}

// Malformed messages get no answer or an error, and the next question is answered.
func TestBadMessages(t *testing.T) {
	b := start(t, Options{}, "api.example.com:443")
	head := func(flags byte, questions, additionals byte) []byte {
		return []byte{0, 9, flags, 0, 0, questions, 0, 0, 0, 0, 0, additionals}
	}
	question := []byte("\x03api\x07example\x03com\x00\x00\x10\x00\x01")
	for name, c := range map[string]struct {
		query []byte
		code  dnsmessage.RCode
	}{
		"no question":          {head(1, 0, 0), dnsmessage.RCodeFormatError},
		"two questions":        {append(append(head(1, 2, 0), question...), question...), dnsmessage.RCodeFormatError},
		"a question less":      {append(head(1, 2, 0), question...), dnsmessage.RCodeFormatError},
		"a label that is long": {append(head(1, 1, 0), 63, 'a', 'b'), dnsmessage.RCodeFormatError},
		"a pointer to itself":  {append(head(1, 1, 0), 0xc0, 12, 0, 1, 0, 1), dnsmessage.RCodeFormatError},
		"a thousand labels":    {append(append(head(1, 1, 0), bytes.Repeat([]byte{1, 'a'}, 1000)...), 0, 0, 1, 0, 1), dnsmessage.RCodeFormatError},
		"an update":            {append(head(0x28, 1, 0), question...), dnsmessage.RCodeNotImplemented},
		"more after it":        {append(append(head(1, 1, 9), question...), 0xff), dnsmessage.RCodeRefused},
		"a class of its own":   {append(append(head(1, 1, 0), question[:len(question)-1]...), 3), dnsmessage.RCodeRefused},
		"a question (control)": {append(head(1, 1, 0), question...), dnsmessage.RCodeRefused},
	} {
		t.Run(name, func(t *testing.T) {
			for _, network := range []string{"udp4", "tcp4"} {
				reply, err := b.exchange(network, c.query)
				must(t, err)
				var p dnsmessage.Parser
				h, err := p.Start(reply)
				if err != nil || h.ID != 9 || !h.Response || h.RCode != c.code {
					t.Errorf("over %s: %+v, %v", network, h, err)
				}
			}
		})
	}
	s := &resolver{relay: &Relay{}}
	for name, query := range map[string][]byte{"an answer": append(head(0x81, 1, 0), question...), "half a header": {0, 9, 1}, "nothing": nil} {
		if reply := s.answer(query); reply != nil {
			t.Errorf("%s is answered: %x", name, reply)
		}
	}
}

// Questions are answered at the limited rate, and the others are not.
func TestRate(t *testing.T) {
	var b bucket
	n := 0
	for b.take() {
		n++
		if n > 100*queryBurst {
			break
		}
	}
	if n < queryBurst || n > 2*queryBurst {
		t.Errorf("%d at once, want %d", n, queryBurst)
	}
	b.last = b.last.Add(-time.Second)
	for n = 0; b.take(); n++ {
	}
	if n < queryRate || n > 2*queryRate {
		t.Errorf("%d in a second, want %d", n, queryRate)
	}
}

// The reports of denied names are bounded, and so are the names that get an address.
func TestNamesAreBounded(t *testing.T) {
	ours, theirs := pair(t)
	defer ours.Close()
	c, err := newControl(theirs)
	must(t, err)
	defer c.conn.Close()
	go func() {
		for b := make([]byte, wire.Max); ; {
			if _, err := ours.Read(b); err != nil {
				return
			}
		}
	}()
	r := &Relay{control: c}
	r.resolver.relay = r
	for i := range 3 * maxTold {
		r.resolver.refused(strings.Repeat("a", 1+i%50)+string(rune('a'+i%26))+".example", dnsmessage.Type(i))
	}
	if n := len(r.resolver.told); n != maxTold {
		t.Errorf("%d names are told, want %d", n, maxTold)
	}
	r.names.list = make([]string, maxNames-1)
	if n, ok := r.names.assign("a.example", c); !ok || n != maxNames {
		t.Errorf("the last name gets %d, %v", n, ok)
	}
	if n, ok := r.names.assign("b.example", c); ok {
		t.Errorf("one more gets %d", n)
	}
	if _, ok := r.names.assign("a.example", c); !ok {
		t.Error("the last name is forgotten")
	}
}

// FuzzAnswer checks that the answer to any question is a DNS message of bounded size that matches
// it.
func FuzzAnswer(f *testing.F) {
	question := "\x03api\x07example\x03com\x00\x00\x01\x00\x01"
	f.Add([]byte("\x00\x09\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00" + question))
	f.Add([]byte("\x00\x09\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01" + question + "\x00\x00\x29\x10\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x00\x09\x01\x00\x00\x02\x00\x00\x00\x00\x00\x00" + question + "\xc0\x0c\x00\x10\x00\x01"))
	f.Add([]byte("\x00\x09\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x011\x010\x0218\x03198\x07in-addr\x04arpa\x00\x00\x0c\x00\x01"))
	r := &Relay{}
	r.resolver.relay = r
	r.resolver.told = map[wire.Refused]bool{}
	for i := range maxTold {
		r.resolver.told[wire.Refused{Type: uint16(i)}] = true
	}
	f.Fuzz(func(t *testing.T, query []byte) {
		reply := r.resolver.answer(query)
		if reply == nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(reply); err != nil || !m.Response || len(reply) > 600 || reply[0] != query[0] || reply[1] != query[1] {
			t.Fatalf("%x is answered by %x: %v", query, reply, err)
		}
	})
}
