package reach

import (
	"strconv"
	"strings"

	"sbx/internal/doc"
)

// Listen is an entry of network.listen: a TCP port of the host that is forwarded to one inside.
type Listen struct {
	Address IP  // the host's address to listen at; 127.0.0.1 by default
	Host    int // the port on the host
	Inside  int // the port in the sandbox
}

// ListenAt returns the Listen from a port of 127.0.0.1 to the same port inside.
func ListenAt(port int) Listen { return Listen{V4(127, 0, 0, 1), port, port} }

const listenForm = `as in 8080, "8080:3000" (the host's port, the one inside) or "0.0.0.0:8080:3000"`

// ParseListen parses "host:inside", two ports, or "address:host:inside".
func ParseListen(s string) (Listen, *Error) {
	bad := &Error{Why: "want a port or two, got " + doc.Quote(doc.Cut(s)), Help: listenForm}
	if _, ok := parsePort(s); ok {
		bad.Why, bad.Meant = "a port alone is a number, got "+doc.Quote(s), s
		return Listen{}, bad
	}
	rest, inside := cutLast(s)
	address, host := cutLast(rest)
	l := ListenAt(0)
	var ok bool
	if l.Host, ok = parsePort(host); ok {
		l.Inside, ok = parsePort(inside)
	}
	if !ok {
		return Listen{}, bad
	}
	if rest == host {
		return l, nil
	}
	bare, six := strings.CutPrefix(address, "[")
	if six {
		bare, six = strings.CutSuffix(bare, "]")
	}
	if l.Address, ok = ParseIP(bare); !ok || l.Address.Is4() == six {
		bad.Why = "want an address before the ports, got " + doc.Quote(doc.Cut(address))
		return Listen{}, bad
	}
	return l, nil
}

// cutLast splits s at its last colon; without one, after is s.
func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", s
	}
	return s[:i], s[i+1:]
}

// IsPort reports whether a single port number describes l: the default address, equal ports.
func (l Listen) IsPort() bool { return l == ListenAt(l.Host) }

// HostPort returns the host's side as address:port.
func (l Listen) HostPort() string {
	if l.Address.Is4() {
		return l.Address.String() + ":" + strconv.Itoa(l.Host)
	}
	return "[" + l.Address.String() + "]:" + strconv.Itoa(l.Host)
}

// String returns the entry in the shortest form that network.listen accepts.
func (l Listen) String() string {
	switch {
	case l.IsPort():
		return strconv.Itoa(l.Host)
	case l.Address == ListenAt(0).Address:
		return strconv.Itoa(l.Host) + ":" + strconv.Itoa(l.Inside)
	}
	return l.Long()
}

// Long returns the entry with address and both ports.
func (l Listen) Long() string { return l.HostPort() + ":" + strconv.Itoa(l.Inside) }

// Takes reports whether l and other conflict: both listen at the same port of the host.
func (l Listen) Takes(other Listen) bool {
	return l.Host == other.Host && (l.at(other.Address) || other.at(l.Address))
}

// at reports whether l listens at an address of the host.
func (l Listen) at(ip IP) bool {
	every := l.Address == V4(0, 0, 0, 0) || l.Address == IP{}
	return l.Address == ip || every && l.Address.Is4() == ip.Is4()
}

// Covers reports whether l publishes all that other does: the same two ports, at other's
// address.
func (l Listen) Covers(other Listen) bool {
	return l.Host == other.Host && l.Inside == other.Inside && l.at(other.Address)
}
