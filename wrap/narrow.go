package wrap

import "strings"

// Narrow is the network of a nested sandbox that may reach less than the outer one. The outer
// supervisor enforces it for processes inside, in addition to its own rules.
type Narrow struct {
	Reach   []string // endpoints, in the form of network.allow
	Sockets []string // pathname sockets of the host that the command may connect to
	Told    bool     // denials are described
}

// Text returns a Narrow in the form that ParseNarrow reads. No endpoint begins like a path.
func (n *Narrow) Text() string {
	return strings.Join(append(append([]string{""}, n.Reach...), n.Sockets...), "\x00")
}

// ParseNarrow reads the form that Text returns.
func ParseNarrow(text string) (n Narrow, ok bool) {
	items := strings.Split(text, "\x00")
	for _, item := range items[1:] {
		switch {
		case item == "":
			return Narrow{}, false
		case item[0] == '/':
			n.Sockets = append(n.Sockets, item)
		default:
			n.Reach = append(n.Reach, item)
		}
	}
	return n, items[0] == ""
}

// MaxNarrow is the greatest length of a Narrow's text in bytes.
const MaxNarrow = 64 << 10

// Beyond is a connect that a Narrow denied.
type Beyond struct {
	Target  string // a host and a port, or a socket's path; "" if unknown
	Program string
	Outer   bool // the outer sandbox denies it as well
}

// Text returns a Beyond in the form that ParseBeyond reads.
func (r *Beyond) Text() string {
	by := "inner"
	if r.Outer {
		by = "outer"
	}
	return by + "\x00" + r.Program + "\x00" + r.Target
}

// ParseBeyond reads the form that Text returns.
func ParseBeyond(text string) (r Beyond, ok bool) {
	by, rest, _ := strings.Cut(text, "\x00")
	r.Outer = by == "outer"
	r.Program, r.Target, ok = strings.Cut(rest, "\x00")
	return r, ok
}
