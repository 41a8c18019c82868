package reach

import "bytes"

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
