package reach

import (
	"strconv"
	"strings"

	"sbx/internal/doc"
)

// Prefix is the range of IP addresses that share their first Bits bits. An IPv4 address takes
// the last four bytes of Addr, and Bits counts from their beginning.
type Prefix struct {
	Addr  [16]byte
	Bits  int
	Is4   bool
	Valid bool
}

// parsePrefix reads an address, or a range of them as "10.0.0.0/8".
func parsePrefix(s string, want4 bool) (Prefix, *Error) {
	text, length, isRange := strings.Cut(s, "/")
	p := Prefix{Is4: want4, Valid: true, Bits: 128}
	kind, ok := "IPv6", false
	if want4 {
		kind, p.Bits = "IPv4", 32
		ok = parse4(text, p.Addr[12:])
	} else {
		p.Addr, ok = parse6(text)
	}
	if !ok {
		return Prefix{}, &Error{Why: "want an " + kind + " address, got " + doc.Quote(doc.Cut(text)), Help: form}
	}
	if !isRange {
		return p.unmapped()
	}
	bits, err := strconv.Atoi(length)
	if err != nil || bits < 0 || bits > p.Bits || strconv.Itoa(bits) != length {
		return Prefix{}, &Error{Why: "want a length from 0 to " + strconv.Itoa(p.Bits) + " after /, got " + doc.Quote(doc.Cut(length))}
	}
	p.Bits = bits
	if masked := p.masked(bits); masked != p.Addr {
		p.Addr = masked
		return Prefix{}, &Error{Why: "a range begins at its first address, got " + doc.Quote(doc.Cut(s)), Meant: p.String()}
	}
	return p.unmapped()
}

// unmapped rejects IPv4-mapped IPv6 addresses: an IP in that form counts as IPv4, so that such
// a rule would never match.
func (p Prefix) unmapped() (Prefix, *Error) {
	if !IP(p.Addr).Is4() || p.Is4 || p.Bits < 96 {
		return p, nil
	}
	four := p
	four.Is4, four.Bits = true, p.Bits-96
	return Prefix{}, &Error{Why: "an IPv4 address is written as one, got " + doc.Quote(p.String()), Meant: four.String()}
}

// Contains reports whether p contains every address of other.
func (p Prefix) Contains(other Prefix) bool {
	if !p.Valid || !other.Valid || p.Is4 != other.Is4 || p.Bits > other.Bits {
		return false
	}
	return other.masked(p.Bits) == p.masked(p.Bits)
}

// Has reports whether the range contains ip.
func (p Prefix) Has(ip IP) bool {
	other := Prefix{Addr: [16]byte(ip), Bits: 128, Valid: true}
	if ip.Is4() {
		other = Prefix{Bits: 32, Is4: true, Valid: true}
		copy(other.Addr[12:], ip[12:])
	}
	return p.Contains(other)
}

// masked returns the address with all but its first bits cleared.
func (p Prefix) masked(bits int) [16]byte {
	if p.Is4 {
		bits += 96
	}
	a := p.Addr
	for i := range a {
		keep := min(max(bits-8*i, 0), 8)
		a[i] &= ^byte(0xFF >> keep)
	}
	return a
}

// isLoopback reports whether all addresses of the range are Loopback.
func (p Prefix) isLoopback() bool {
	return p.Is4 && p.Bits >= 8 && p.Addr[12] == 127 || !p.Is4 && p.Bits == 128 && IP(p.Addr).Loopback() || p.Is4 && p.Bits == 32 && p.Addr == [16]byte{}
}

// String returns the prefix in the form of network.allow, without brackets.
func (p Prefix) String() string {
	s, full := "", 128
	if p.Is4 {
		s, full = string4([4]byte(p.Addr[12:])), 32
	} else {
		s = string6(p.Addr)
	}
	if p.Bits == full {
		return s
	}
	return s + "/" + strconv.Itoa(p.Bits)
}

// The addresses that "localhost" stands for, as ranges.
var (
	loopback4 = Prefix{Addr: [16]byte{12: 127, 15: 1}, Bits: 32, Is4: true, Valid: true}
	loopback6 = Prefix{Addr: [16]byte{15: 1}, Bits: 128, Valid: true}
)
