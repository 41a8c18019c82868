package reach

import (
	"strconv"
	"strings"

	"sbx/internal/doc"
)

// Endpoint is one item of network.allow. Exactly one of Name and Prefix is set.
type Endpoint struct {
	Name   string // "example.com" or "*.example.com", in lower case; "localhost"
	Prefix Prefix // an address or a range of them
	Port   int    // 0 means any port
}

// Prefix is the range of IP addresses that share their first Bits bits. An IPv4 address takes
// the last four bytes of Addr, and Bits counts from their beginning.
type Prefix struct {
	Addr  [16]byte
	Bits  int
	Is4   bool
	Valid bool
}

// Error says what is wrong with a rule of network.allow.
type Error struct{ Why, Meant, Help string }

// Error is the text on one line.
func (e *Error) Error() string {
	if e.Meant == "" {
		return e.Why
	}
	return e.Why + " (did you mean " + e.Meant + "?)"
}

const form = "as in example.com:443, *.example.com:443, 10.0.0.0/8:5432, [::1]:443, localhost:3000 or example.com:*"

// Parse reads "host:port", where host is a name, "*." and a name, an IPv4 address
// or range, or an IPv6 address or range in brackets, and port is a number or "*".
func Parse(s string) (Endpoint, *Error) {
	host, port, err := splitEndpoint(s)
	if err != nil {
		return Endpoint{}, err
	}
	var e Endpoint
	if number, udp := strings.CutSuffix(port, "/udp"); udp {
		_, err := Parse(host + ":" + number)
		return Endpoint{}, noUDP(host+":"+number, err)
	}
	if port != "*" {
		var ok bool
		if e.Port, ok = parsePort(port); !ok {
			return Endpoint{}, &Error{Why: "want a port from 1 to 65535 or *, got " + doc.Quote(doc.Cut(port)), Help: form}
		}
	}
	switch {
	case host == "*" || host == "":
		return Endpoint{}, &Error{Why: "want a host before the port, got " + doc.Quote(doc.Cut(s)), Help: "every host is 0.0.0.0/0 and [::/0], or network.mode host"}
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
func splitEndpoint(s string) (host, port string, err *Error) {
	bad := &Error{Why: "want host:port, got " + doc.Quote(doc.Cut(s)), Help: form}
	if strings.Contains(s, "://") {
		_, rest, _ := strings.Cut(s, "://")
		rest, _, _ = strings.Cut(rest, "/")
		if isHostName(rest) {
			rest += ":443"
		}
		if _, err := Parse(rest); err == nil {
			bad.Meant = rest
		}
		return "", "", bad
	}
	end := 0
	if strings.HasPrefix(s, "[") {
		end = strings.IndexByte(s, ']') + 1
		if end == 0 {
			return "", "", bad
		}
	}
	colon := strings.LastIndexByte(s, ':')
	switch {
	case colon < end, end > 0 && colon != end:
		if isHostName(strings.TrimPrefix(s, "*.")) {
			bad.Meant = s + ":443"
		}
		return "", "", bad
	case end == 0 && strings.Count(s, ":") > 1:
		bad.Why = "an IPv6 address is written in brackets, got " + doc.Quote(doc.Cut(s))
		return "", "", bad
	}
	return s[:colon], s[colon+1:], nil
}

func parsePort(s string) (int, bool) {
	if s == "" || len(s) > 5 || doc.LeadingDigits(s) != s || s[0] == '0' {
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
	return last != "" && doc.LeadingDigits(last) == last
}

// isHostName reports whether resolvers accept s: labels of letters, digits, - and _.
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

// noUDP returns the error for a UDP rule: the supervisor could not see the destinations. tcp is
// suggested instead if err, its parse error, is nil.
func noUDP(tcp string, err *Error) *Error {
	refused := &Error{Why: "UDP cannot be allowed, only TCP", Help: "names are resolved without a rule, and HTTP/3 falls back to TCP; network.mode host has all of UDP"}
	if err == nil {
		refused.Meant = tcp
	}
	return refused
}

func badHost(host string) *Error {
	err := &Error{Why: "want a host name or an address, got " + doc.Quote(doc.Cut(host)), Help: form}
	trimmed := strings.TrimSuffix(host, ".")
	switch {
	case trimmed != host && isHostName(trimmed):
		err.Why, err.Meant = "a host name ends without a dot here, got "+doc.Quote(doc.Cut(host)), trimmed
	case strings.Contains(host, "*"):
		err.Why = "* stands for whole labels at the front only, as in *.example.com, got " + doc.Quote(doc.Cut(host))
	}
	for i := range len(host) {
		if host[i] >= 0x80 {
			err.Help = "write a name that is not ASCII in its xn-- form"
		}
	}
	return err
}

// Covers tells whether every connection that other allows is allowed by e.
func (e Endpoint) Covers(other Endpoint) bool {
	switch {
	case e.Port != 0 && e.Port != other.Port:
		return false
	case other.Name != "": // what a name resolves to is not known here
		return e.named(other.Name) // "*.example.com" has "*.a.example.com" and itself
	case e.Name == localhost:
		return loopback4.Contains(other.Prefix) || loopback6.Contains(other.Prefix)
	}
	// As in Reach.Addr, a wide range does not include the host's loopback.
	return e.Prefix.Contains(other.Prefix) && (e.Prefix.isLoopback() || !other.Prefix.isLoopback())
}

// Contains tells whether every address of other is one of p's.
func (p Prefix) Contains(other Prefix) bool {
	if !p.Valid || !other.Valid || p.Is4 != other.Is4 || p.Bits > other.Bits {
		return false
	}
	return other.masked(p.Bits) == p.masked(p.Bits)
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

// String returns the prefix in the form of network.allow, without brackets.
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
