package reach

import (
	"bytes"
	"strconv"
	"strings"

	"sbx/internal/doc"
)

// IP is an IPv6 address, or an IPv4 address mapped as ::ffff:a.b.c.d (RFC 4291, 2.5.5.2).
type IP [16]byte

// mapped is the prefix of an IPv4 address in an IP.
var mapped = []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}

// V4 returns the IPv4 address a.b.c.d.
func V4(a, b, c, d byte) IP {
	ip := IP{12: a, 13: b, 14: c, 15: d}
	copy(ip[:], mapped)
	return ip
}

// ParseIP parses an address without a zone and, for IPv4, without leading zeros.
func ParseIP(s string) (ip IP, ok bool) {
	if parse4(s, ip[12:]) {
		copy(ip[:], mapped)
		return ip, true
	}
	ip = IP{}
	a, ok := parse6(s)
	return IP(a), ok
}

// Is4 reports whether ip is an IPv4 address.
func (ip IP) Is4() bool { return bytes.HasPrefix(ip[:], mapped) }

// String formats the address (RFC 5952, RFC 6943).
func (ip IP) String() string {
	if ip.Is4() {
		return string4([4]byte(ip[12:]))
	}
	return string6([16]byte(ip))
}

// isLocalhost reports whether "localhost" in a rule stands for ip.
func (ip IP) isLocalhost() bool { return ip == V4(127, 0, 0, 1) || ip == IP{15: 1} }

// Loopback reports whether a connection to ip stays on the machine, as with 127.0.0.0/8 and
// ::1, but also with 0.0.0.0 and ::.
func (ip IP) Loopback() bool {
	return ip.Is4() && (ip[12] == 127 || ip == V4(0, 0, 0, 0)) || ip == IP{} || ip == IP{15: 1}
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

// string4 formats an IPv4 address.
func string4(a [4]byte) string {
	return strconv.Itoa(int(a[0])) + "." + strconv.Itoa(int(a[1])) + "." + strconv.Itoa(int(a[2])) + "." + strconv.Itoa(int(a[3]))
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
