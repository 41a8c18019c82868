package reach

import (
	"strconv"
	"strings"

	"sbx/internal/doc"
)

// Listen is an entry of network.listen: a TCP port of the host's that leads to one
// inside.
type Listen struct {
	Address IP // of the host; 127.0.0.1 where none is written
	Host    int
	Inside  int
}

// ListenAt is the port of the host's loopback that leads to the same one inside.
func ListenAt(port int) Listen { return Listen{V4(127, 0, 0, 1), port, port} }

const listenForm = `as in 8080, "8080:3000" (the host's port, the one inside) or "0.0.0.0:8080:3000"`

// ParseListen reads "host:inside", two ports, or "address:host:inside".
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

// cutLast takes off what stands after the last colon.
func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", s
	}
	return s[:i], s[i+1:]
}

// IsPort tells whether a number says all of it.
func (l Listen) IsPort() bool { return l == ListenAt(l.Host) }

// HostPort is the address and the port of the host's.
func (l Listen) HostPort() string {
	if l.Address.Is4() {
		return l.Address.String() + ":" + strconv.Itoa(l.Host)
	}
	return "[" + l.Address.String() + "]:" + strconv.Itoa(l.Host)
}

// String is the entry as network.listen has it, in its shortest form.
func (l Listen) String() string {
	switch {
	case l.IsPort():
		return strconv.Itoa(l.Host)
	case l.Address == ListenAt(0).Address:
		return strconv.Itoa(l.Host) + ":" + strconv.Itoa(l.Inside)
	}
	return l.Long()
}

// Long is the entry with all that a shorter form leaves out.
func (l Listen) Long() string { return l.HostPort() + ":" + strconv.Itoa(l.Inside) }

// Takes tells whether both want one port of the host.
func (l Listen) Takes(other Listen) bool {
	return l.Host == other.Host && (l.at(other.Address) || other.at(l.Address))
}

// at tells whether l is offered at an address of the host's.
func (l Listen) at(ip IP) bool {
	every := l.Address == V4(0, 0, 0, 0) || l.Address == IP{}
	return l.Address == ip || every && l.Address.Is4() == ip.Is4()
}

// Covers tells whether l offers what other does: the same port inside, at its address
// too.
func (l Listen) Covers(other Listen) bool {
	return l.Host == other.Host && l.Inside == other.Inside && l.at(other.Address)
}
