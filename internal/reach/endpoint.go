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
	case IsHostName(strings.TrimPrefix(host, "*.")):
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
		if IsHostName(rest) {
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
		if IsHostName(strings.TrimPrefix(s, "*.")) {
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

// looksNumeric reports whether host is an address or a range and not a name: no top-level
// domain is a number.
func looksNumeric(host string) bool {
	if strings.IndexByte(host, '/') >= 0 {
		return true
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && doc.LeadingDigits(last) == last
}

// IsHostName reports whether s is one host name, as resolvers accept it: labels of letters, digits, - and _.
func IsHostName(s string) bool {
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
	case trimmed != host && IsHostName(trimmed):
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

// Covers reports whether e allows every connection that other allows.
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

// named reports whether the endpoint's Name, which may begin with "*.", matches name.
func (e *Endpoint) named(name string) bool {
	domain, wild := strings.CutPrefix(e.Name, "*")
	if !wild {
		return e.Name != "" && e.Name == name
	}
	return strings.HasSuffix(name, domain) && len(name) > len(domain)
}

const localhost = "localhost"
