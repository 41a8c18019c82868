package listen

import (
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

func query(t testing.TB, name string, change func(*dnsmessage.Message)) string {
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 0x1234, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}}}
	if change != nil {
		change(&m)
	}
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// seeds returns queries, and texts that are not queries.
func seeds(t testing.TB) map[string]string {
	header := "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
	return map[string]string{
		query(t, "Good.Example.", nil):                                                                      "good.example",
		query(t, ".", nil):                                                                                  "",
		query(t, "o\xffd\x00\x1b.example.", nil):                                                            "o?d??.example",
		query(t, "a.b.", func(m *dnsmessage.Message) { m.Response = true }):                                 "no query",
		query(t, "a.b.", func(m *dnsmessage.Message) { m.OpCode = 4 }):                                      "no query",
		query(t, "a.b.", func(m *dnsmessage.Message) { m.Questions = nil }):                                 "no query",
		query(t, "a.b.", func(m *dnsmessage.Message) { m.Questions = append(m.Questions, m.Questions[0]) }): "no query",
		"": "no query", "\x00": "no query", header: "no query",
		header + "\xc0\x0c\x00\x01\x00\x01":    "no query", // a name that refers to itself
		header + "\x3fabc":                     "no query",
		header + "\x03a.b\x00\x00\x01\x00\x01": "no query", // a dot within a label
		header + strings.Repeat("\x3f"+strings.Repeat("a", 63), 4) + "\x00\x00\x01\x00\x01": "no query",
		header + strings.Repeat("\x01a", 1000) + "\x00\x00\x01\x00\x01":                     "no query",
	}
}

func TestDenial(t *testing.T) {
	for in, want := range seeds(t) {
		name, _, reply, ok := denial([]byte(in))
		if !ok {
			name = "no query"
		}
		if name != want {
			t.Errorf("%q: %q, and not %q", in, name, want)
		}
		if ok && (reply[0] != 0x12 || reply[1] != 0x34 || reply[2] != 0x81 || reply[3] != 0x83 || string(reply[12:]) != in[12:]) {
			t.Errorf("%q: %q", in, reply)
		}
	}
}

func FuzzDenial(f *testing.F) {
	for in := range seeds(f) {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		name, _, reply, ok := denial(in)
		if !ok {
			return
		}
		if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q", name)
		}
		var p dnsmessage.Parser
		h, err := p.Start(reply)
		if err != nil || !h.Response || h.RCode != dnsmessage.RCodeNameError || len(reply) > maxQuery {
			t.Errorf("%q: %v, %v", reply, h, err)
		}
	})
}

func TestAnswersAreBounded(t *testing.T) {
	q := &Lookups{}
	n := 0
	for range 3 * maxLookups {
		if q.may() {
			n++
		}
	}
	if n == 0 || n > 2*maxLookups { // a second may pass meanwhile
		t.Errorf("%d answers", n)
	}
}
