package spec

import (
	"strconv"
	"strings"
)

// Endpoint is one rule of network.allow. Exactly one of Name and Prefix says who
// is meant.
type Endpoint struct {
	Name   string // "example.com" or "*.example.com", in lower case; "localhost"
	Prefix Prefix // an address or a range of them
	Port   int    // 0 is any
	UDP    bool
}

// Prefix is the range of IP addresses that share their first Bits bits. An
// IPv4 address stands in the last four bytes with Bits counted from there.
type Prefix struct {
	Addr  [16]byte
	Bits  int
	Is4   bool
	Valid bool
}

// EndpointError says what is wrong with a rule of network.allow.
type EndpointError struct{ Why, Meant, Help string }

// Error is the error on one line.
func (e *EndpointError) Error() string {
	if e.Meant == "" {
		return e.Why
	}
	return e.Why + " (did you mean " + e.Meant + "?)"
}

const endpointForm = "as in example.com:443, *.example.com:443, 10.0.0.0/8:5432, [::1]:443, localhost:3000, 192.0.2.1:53/udp or example.com:*"

// ParseEndpoint reads "host:port" or "host:port/udp", where host is a name, "*." and a name, an IPv4 address or range, or an IPv6 address or range
// in brackets, and port is a number or "*".
func ParseEndpoint(s string) (Endpoint, *EndpointError) {
	if strings.HasPrefix(s, "@") {
		return Endpoint{}, &EndpointError{Why: "unknown set of hosts " + quote(cut(s)), Help: "no set is there yet; name the hosts, " + endpointForm}
	}
	host, port, err := splitEndpoint(s)
	if err != nil {
		return Endpoint{}, err
	}
	var e Endpoint
	port, e.UDP = strings.CutSuffix(port, "/udp")
	if port != "*" {
		var ok bool
		if e.Port, ok = parsePort(port); !ok {
			return Endpoint{}, &EndpointError{Why: "want a port from 1 to 65535 or *, got " + quote(cut(port)), Help: endpointForm}
		}
	}
	switch {
	case host == "*" || host == "":
		return Endpoint{}, &EndpointError{Why: "want a host before the port, got " + quote(cut(s)), Help: "every host is 0.0.0.0/0 and [::/0], or network.mode host"}
	case host[0] == '[':
		e.Prefix, err = parsePrefix(host[1:len(host)-1], false)
	case looksNumeric(host):
		e.Prefix, err = parsePrefix(host, true)
	case isHostName(strings.TrimPrefix(host, "*.")):
		e.Name = strings.ToLower(host)
	default:
		err = badHost(host)
	}
	return e, err
}

// splitEndpoint takes host and port apart; brackets stay on the host.
func splitEndpoint(s string) (host, port string, err *EndpointError) {
	form := &EndpointError{Why: "want host:port, got " + quote(cut(s)), Help: endpointForm}
	if strings.Contains(s, "://") {
		_, rest, _ := strings.Cut(s, "://")
		rest, _, _ = strings.Cut(rest, "/")
		if isHostName(rest) {
			rest += ":443"
		}
		if _, bad := ParseEndpoint(rest); bad == nil {
			form.Meant = rest
		}
		return "", "", form
	}
	end := 0
	if strings.HasPrefix(s, "[") {
		end = strings.IndexByte(s, ']') + 1
		if end == 0 {
			return "", "", form
		}
	}
	colon := strings.LastIndexByte(s, ':')
	switch {
	case colon < end, end > 0 && colon != end:
		if isHostName(strings.TrimPrefix(s, "*.")) {
			form.Meant = s + ":443"
		}
		return "", "", form
	case end == 0 && strings.Count(s, ":") > 1:
		form.Why = "an IPv6 address is written in brackets, got " + quote(cut(s))
		return "", "", form
	}
	return s[:colon], s[colon+1:], nil
}

func parsePort(s string) (int, bool) {
	if s == "" || len(s) > 5 || leadingDigits(s) != s || s[0] == '0' {
		return 0, false
	}
	port, _ := strconv.Atoi(s)
	return port, port <= 65535
}

// looksNumeric tells an address from a name: no top-level domain is a number.
func looksNumeric(host string) bool {
	if strings.IndexByte(host, '/') >= 0 {
		return true
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && leadingDigits(last) == last
}

// isHostName takes what resolvers take: labels of letters, digits, - and _.
func isHostName(s string) bool {
	if s == "" || len(s) > 253 || looksNumeric(s) {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			c := label[i]
			if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
				return false
			}
		}
	}
	return true
}

func badHost(host string) *EndpointError {
	err := &EndpointError{Why: "want a host name or an address, got " + quote(cut(host)), Help: endpointForm}
	trimmed := strings.TrimSuffix(host, ".")
	switch {
	case trimmed != host && isHostName(trimmed):
		err.Why, err.Meant = "a host name ends without a dot here, got "+quote(cut(host)), trimmed
	case strings.Contains(host, "*"):
		err.Why = "* stands for whole labels at the front only, as in *.example.com, got " + quote(cut(host))
	}
	for i := range len(host) {
		if host[i] >= 0x80 {
			err.Help = "write a name that is not ASCII in its xn-- form"
		}
	}
	return err
}

// Contains tells whether every address of other is one of p's.
func (p Prefix) Contains(other Prefix) bool {
	if !p.Valid || !other.Valid || p.Is4 != other.Is4 || p.Bits > other.Bits {
		return false
	}
	return other.masked(p.Bits) == p.masked(p.Bits)
}

// masked is the address with all but its first bits cleared.
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

// String is the prefix as network.allow has it, without brackets.
func (p Prefix) String() string {
	var s string
	full := 128
	if p.Is4 {
		full = 32
		s = strconv.Itoa(int(p.Addr[12])) + "." + strconv.Itoa(int(p.Addr[13])) + "." +
			strconv.Itoa(int(p.Addr[14])) + "." + strconv.Itoa(int(p.Addr[15]))
	} else {
		s = string6(p.Addr)
	}
	if p.Bits == full {
		return s
	}
	return s + "/" + strconv.Itoa(p.Bits)
}
