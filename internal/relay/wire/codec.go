package wire

import (
	"encoding/binary"

	"sbx/internal/reach"
)

// MaxText is the maximum length of a text in a message, in bytes; a longer text is cut.
const MaxText = 512

// Append adds the message's packet to b.
func (m *Expected) Append(b []byte) []byte {
	b = append(b, byte(KindExpected))
	b = le.AppendUint32(b, m.Token)
	b = append(b, m.IP[:]...)
	b = append(le.AppendUint16(b, m.Port), flag(m.Plain))
	return appendText(b, m.Name)
}

// Append adds the message's packet to b.
func (m *Named) Append(b []byte) []byte {
	return appendText(le.AppendUint32(append(b, byte(KindNamed)), m.N), m.Name)
}

// Append adds the message's packet to b.
func (m *Refused) Append(b []byte) []byte {
	return appendText(le.AppendUint16(append(b, byte(KindRefused)), m.Type), m.Name)
}

// Append adds the message's packet to b.
func (m *Ended) Append(b []byte) []byte {
	b = append(b, byte(KindEnded))
	b = le.AppendUint32(b, m.Token)
	b = append(b, byte(m.Outcome), flag(m.NoSNI))
	b = le.AppendUint64(b, m.Up)
	b = le.AppendUint64(b, m.Down)
	return appendText(b, m.Detail)
}

// AppendRule adds the packet of a rule of network.allow.
func AppendRule(b []byte, text string) []byte { return appendText(append(b, byte(KindRule)), text) }

// AppendPublish adds the packet of a port inside.
func AppendPublish(b []byte, port uint16) []byte {
	return le.AppendUint16(append(b, byte(KindPublish)), port)
}

// AppendNoLookups adds the packet that turns lookups before a connection off (on is true) or
// on again.
func AppendNoLookups(b []byte, on bool) []byte { return append(b, byte(KindNoLookups), flag(on)) }

// ReadExpected reads a packet of KindExpected.
func ReadExpected(b []byte) (m Expected, ok bool) {
	r := open(b, KindExpected)
	m.Token = r.u32()
	m.IP = reach.IP(r.take(16))
	m.Port, m.Plain = r.u16(), r.flag()
	m.Name = r.text()
	return m, r.done()
}

// ReadNamed reads a packet of KindNamed.
func ReadNamed(b []byte) (m Named, ok bool) {
	r := open(b, KindNamed)
	m.N, m.Name = r.u32(), r.text()
	return m, r.done()
}

// ReadRefused reads a packet of KindRefused.
func ReadRefused(b []byte) (m Refused, ok bool) {
	r := open(b, KindRefused)
	m.Type, m.Name = r.u16(), r.text()
	return m, r.done()
}

// ReadEnded reads a packet of KindEnded.
func ReadEnded(b []byte) (m Ended, ok bool) {
	r := open(b, KindEnded)
	m.Token = r.u32()
	m.Outcome, m.NoSNI = Outcome(r.take(1)[0]), r.flag()
	m.Up, m.Down = r.u64(), r.u64()
	m.Detail = r.text()
	return m, r.done()
}

// ReadRule reads a packet of KindRule.
func ReadRule(b []byte) (text string, ok bool) {
	r := open(b, KindRule)
	text = r.text()
	return text, r.done()
}

// ReadPublish reads a packet of KindPublish.
func ReadPublish(b []byte) (port uint16, ok bool) {
	r := open(b, KindPublish)
	port = r.u16()
	return port, r.done()
}

// ReadNoLookups reads a packet of KindNoLookups.
func ReadNoLookups(b []byte) (on, ok bool) {
	r := open(b, KindNoLookups)
	on = r.flag()
	return on, r.done()
}

var le = binary.LittleEndian

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func appendText(b []byte, s string) []byte {
	s = s[:min(len(s), MaxText)]
	return append(le.AppendUint16(b, uint16(len(s))), s...)
}

// reader reads a packet from its front. Missing bytes read as zero, and ok becomes false.
type reader struct {
	b  []byte
	ok bool
}

// open starts to read a packet, which must be of kind k.
func open(b []byte, k Kind) *reader {
	r := &reader{b: b, ok: true}
	r.ok = Kind(r.take(1)[0]) == k && r.ok
	return r
}

func (r *reader) take(n int) []byte {
	if len(r.b) < n {
		r.b, r.ok = nil, false
		return make([]byte, n)
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) u16() uint16  { return le.Uint16(r.take(2)) }
func (r *reader) u32() uint32  { return le.Uint32(r.take(4)) }
func (r *reader) u64() uint64  { return le.Uint64(r.take(8)) }
func (r *reader) flag() bool   { return r.take(1)[0] != 0 }
func (r *reader) text() string { return string(r.take(int(r.u16()))) }
func (r *reader) done() bool   { return r.ok && len(r.b) == 0 }
