package reach

import (
	"strconv"
	"strings"

	"sbx/internal/doc"
)

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

// parse4 reads four decimal numbers without leading zeros into dst.
func parse4(s string, dst []byte) bool {
	for i := range 4 {
		part := s
		if i < 3 {
			var ok bool
			if part, s, ok = strings.Cut(s, "."); !ok {
				return false
			}
		}
		if part == "" || len(part) > 3 || doc.LeadingDigits(part) != part || len(part) > 1 && part[0] == '0' {
			return false
		}
		v, _ := strconv.Atoi(part)
		if v > 255 {
			return false
		}
		dst[i] = byte(v)
	}
	return true
}

// parse6 parses an IPv6 address (RFC 4291) without a zone.
func parse6(s string) (addr [16]byte, ok bool) {
	head, tail, short := strings.Cut(s, "::")
	front, ok := groups6(head, !short)
	if !ok {
		return addr, false
	}
	if !short {
		copy(addr[:], front)
		return addr, len(front) == 16
	}
	back, ok := groups6(tail, true)
	if !ok || len(front)+len(back) > 14 { // :: stands for one group at least
		return addr, false
	}
	copy(addr[:], front)
	copy(addr[16-len(back):], back)
	return addr, true
}

// groups6 reads groups of hexadecimal digits between colons; the last may be
// an IPv4 address.
func groups6(s string, last bool) (b []byte, ok bool) {
	if s == "" {
		return nil, true
	}
	for s != "" {
		group, rest, more := strings.Cut(s, ":")
		if more && rest == "" {
			return nil, false
		}
		if !more && last && strings.IndexByte(group, '.') >= 0 {
			var four [4]byte
			ok := parse4(group, four[:])
			return append(b, four[:]...), ok
		}
		r, err := strconv.ParseUint(group, 16, 16)
		if err != nil || len(group) > 4 {
			return nil, false
		}
		b = append(b, byte(r>>8), byte(r))
		if len(b) > 16 {
			return nil, false
		}
		s = rest
	}
	return b, true
}

// string6 formats an IPv6 address (RFC 5952).
func string6(a [16]byte) string {
	var groups [8]int
	for i := range groups {
		groups[i] = int(a[2*i])<<8 | int(a[2*i+1])
	}
	from, to := -1, -1 // the longest run of zeros, two at least, the first of equals
	for i := 0; i < 8; i++ {
		j := i
		for j < 8 && groups[j] == 0 {
			j++
		}
		if j-i >= 2 && j-i > to-from {
			from, to = i, j
		}
		i = max(i, j-1)
	}
	var s strings.Builder
	for i := 0; i < 8; i++ {
		if i == from {
			s.WriteString("::")
			i = to - 1
			continue
		}
		if i > 0 && i != to {
			s.WriteByte(':')
		}
		s.WriteString(strconv.FormatInt(int64(groups[i]), 16))
	}
	return s.String()
}
