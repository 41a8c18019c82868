package reach

import "bytes"

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

// Is4 tells whether it is an address of IPv4.
func (ip IP) Is4() bool { return bytes.HasPrefix(ip[:], mapped) }

// String formats the address (RFC 5952, RFC 6943).
func (ip IP) String() string {
	if ip.Is4() {
		return Prefix{Addr: [16]byte(ip), Bits: 32, Is4: true, Valid: true}.String()
	}
	return string6([16]byte(ip))
}

// isLocalhost tells whether it is an address that "localhost" stands for.
func (ip IP) isLocalhost() bool { return loopback4.Has(ip) || loopback6.Has(ip) }

// The addresses that "localhost" stands for.
var (
	loopback4 = Prefix{Addr: [16]byte{12: 127, 15: 1}, Bits: 32, Is4: true, Valid: true}
	loopback6 = Prefix{Addr: [16]byte{15: 1}, Bits: 128, Valid: true}
)

// Loopback reports whether a connection to ip stays on the machine, as with 127.0.0.0/8 and
// ::1, but also with 0.0.0.0 and ::.
func (ip IP) Loopback() bool {
	return ip.Is4() && (ip[12] == 127 || ip == V4(0, 0, 0, 0)) || ip == IP{} || ip == IP{15: 1}
}

// isLoopback reports whether all addresses of the range are Loopback.
func (p Prefix) isLoopback() bool {
	return p.Is4 && p.Bits >= 8 && p.Addr[12] == 127 || !p.Is4 && p.Bits == 128 && IP(p.Addr).Loopback() || p.Is4 && p.Bits == 32 && p.Addr == [16]byte{}
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

// special lists the ranges that a name must not resolve into unless an address rule allows it:
// otherwise the owner of an allowed name could point it at hosts in the caller's own network
// (DNS rebinding). The ranges are from IANA's special-purpose registries (RFC 6890 and its
// updates), plus one public address at which a cloud serves metadata.
var special = [...]struct{ prefix, what string }{
	{"0.0.0.0/8", "this host"},
	{"10.0.0.0/8", "private"},
	{"100.64.0.0/10", "shared by carriers"},
	{"127.0.0.0/8", "loopback"},
	{"168.63.129.16/32", "where Azure's machines read their metadata"},
	{"169.254.0.0/16", "link-local, where clouds keep their metadata"},
	{"172.16.0.0/12", "private"},
	{"192.0.0.0/24", "protocol assignments"},
	{"192.0.2.0/24", "documentation"},
	{"192.88.99.0/24", "a relay of 6to4"},
	{"192.168.0.0/16", "private"},
	{"198.18.0.0/15", "for benchmarks, and the sandbox's own"},
	{"198.51.100.0/24", "documentation"},
	{"203.0.113.0/24", "documentation"},
	{"224.0.0.0/4", "multicast"},
	{"240.0.0.0/4", "reserved"},
	{"::/128", "this host"},
	{"::1/128", "loopback"},
	{"100::/64", "discard-only"},
	{"2001::/23", "protocol assignments, Teredo among them"},
	{"2001:db8::/32", "documentation"},
	{"3fff::/20", "documentation"},
	{"5f00::/16", "segment routing"},
	{"fc00::/7", "private"},
	{"fe80::/10", "link-local"},
	{"fec0::/10", "site-local"},
	{"ff00::/8", "multicast"},
}

// Special returns the kind of special range that contains ip, "" for none. An IPv6 address with
// an embedded IPv4 address (NAT64, RFC 6052; 6to4, RFC 3056; IPv4-compatible) counts as the
// IPv4 address.
func Special(ip IP) string {
	if v4, ok := carried(ip); ok {
		ip = v4
	}
	for _, row := range &special {
		if p, err := parsePrefix(row.prefix, !bytes.Contains([]byte(row.prefix), []byte(":"))); err == nil && p.Has(ip) {
			return row.what
		}
	}
	return ""
}

// carried returns the IPv4 address embedded in an IPv6 address.
func carried(ip IP) (IP, bool) {
	switch {
	case bytes.HasPrefix(ip[:], []byte{0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0}), // 64:ff9b::/96
		bytes.HasPrefix(ip[:], []byte{0, 0x64, 0xff, 0x9b, 0, 1}),      // 64:ff9b:1::/48, RFC 8215
		bytes.HasPrefix(ip[:], make([]byte, 12)) && ip[12]|ip[13] != 0: // ::/96
		return V4(ip[12], ip[13], ip[14], ip[15]), true
	case ip[0] == 0x20 && ip[1] == 0x02: // 2002::/16
		return V4(ip[2], ip[3], ip[4], ip[5]), true
	}
	return ip, false
}
