package wrap

import "strings"

// Narrow is what a nested sandbox may reach, where that is less than what the outer one
// does: the outer supervisor holds it for those inside, beside its own rules.
type Narrow struct {
	Reach   []string // endpoints, as network.allow has them
	Sockets []string // pathname sockets of the host that may be connected to
	Told    bool     // what is refused is described
}

// Text is a Narrow as ParseNarrow reads it. No endpoint begins as a path does.
func (n *Narrow) Text() string {
	return strings.Join(append(append([]string{""}, n.Reach...), n.Sockets...), "\x00")
}

// ParseNarrow reads what Text wrote.
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

// MaxNarrow is the longest text of a Narrow in bytes.
const MaxNarrow = 64 << 10

// Beyond is a connect that a Narrow refused.
type Beyond struct {
	Target  string // a host and a port, or a socket's path; "" for what cannot be told
	Program string
	Outer   bool // the outer sandbox refuses it as well
}

// Text is a Beyond as ParseBeyond reads it.
func (r *Beyond) Text() string {
	by := "inner"
	if r.Outer {
		by = "outer"
	}
	return by + "\x00" + r.Program + "\x00" + r.Target
}

// ParseBeyond reads what Text wrote.
func ParseBeyond(text string) (r Beyond, ok bool) {
	by, rest, _ := strings.Cut(text, "\x00")
	r.Outer = by == "outer"
	r.Program, r.Target, ok = strings.Cut(rest, "\x00")
	return r, ok
}
