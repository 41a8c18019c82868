package wire

import (
	"testing"

	"sbx/internal/reach"
)

// What is written is read again, and no prefix of it is taken for it.
func TestRoundTrip(t *testing.T) {
	meant := Expected{7, reach.V4(1, 2, 3, 4), 443, "example.com", true}
	ended := Ended{Tokens - 1, Fronted, true, 1 << 40, 9, "other.example"}
	named, refused := Named{PoolSize, "a.example"}, Refused{"b.example", 16}
	for name, c := range map[string]struct {
		packet []byte
		read   func([]byte) bool
	}{
		"meant":   {meant.Append(nil), func(b []byte) bool { m, ok := ReadExpected(b); return ok && m == meant }},
		"ended":   {ended.Append(nil), func(b []byte) bool { m, ok := ReadEnded(b); return ok && m == ended }},
		"named":   {named.Append(nil), func(b []byte) bool { m, ok := ReadNamed(b); return ok && m == named }},
		"refused": {refused.Append(nil), func(b []byte) bool { m, ok := ReadRefused(b); return ok && m == refused }},
		"publish": {AppendPublish(nil, 3000), func(b []byte) bool { port, ok := ReadPublish(b); return ok && port == 3000 }},
		"unasked": {AppendNoLookups(nil, true), func(b []byte) bool { on, ok := ReadNoLookups(b); return ok && on }},
		"rule":    {AppendRule(nil, "@npm"), func(b []byte) bool { m, ok := ReadRule(b); return ok && m == "@npm" }},
	} {
		if len(c.packet) > Max || !c.read(c.packet) {
			t.Errorf("%s is not read as it is written", name)
		}
		for n := range c.packet {
			if c.read(c.packet[:n]) {
				t.Errorf("%s: the first %d bytes are taken for all", name, n)
			}
		}
		if c.read(append(c.packet, 0)) {
			t.Errorf("%s: a byte more is taken", name)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, n := range []uint32{1, 255, 256, 65535, 65536, PoolSize} {
		if got, ok := Pooled(Pool(n)); !ok || got != n {
			t.Errorf("pool %d is %v, %d", n, Pool(n), got)
		}
	}
	for _, n := range []uint32{0, 1, 65536, Tokens - 1} {
		for _, v6 := range []bool{false, true} {
			if got, ok := TokenOf(Token(n, v6)); !ok || got != n {
				t.Errorf("token %d is %v, %d", n, Token(n, v6), got)
			}
		}
	}
	for _, n := range []int{0, 1, 1 << 16} {
		if got, ok := PublishedOf(Published(n)); !ok || got != n {
			t.Errorf("published %d is %d", n, got)
		}
	}
	if n, ok := PublishedOf(Tokens - 1); ok {
		t.Errorf("the last token is the published %d", n)
	}
	for _, ip := range []reach.IP{reach.V4(127, 0, 0, 1), reach.V4(127, 128, 0, 0), reach.V4(198, 20, 0, 1), {15: 1}} {
		if _, ok := TokenOf(ip); ok {
			t.Errorf("%v is taken for a token", ip)
		}
		if _, ok := Pooled(ip); ok {
			t.Errorf("%v is taken for the pool's", ip)
		}
	}
}
