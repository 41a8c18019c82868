package reach

import "slices"

// Rule is one endpoint that the command may connect to.
type Rule struct {
	Endpoint
	Text  string // the endpoint as it is written: "registry.npmjs.org:443"
	Cause string // the source of the rule: "network.allow[0]", "network.allow[1]: @npm", "agent: claude"
	Why   string // what a set's host is needed for; may be empty
}

// Reach holds the rules of one command; the first match counts.
type Reach []Rule

// Name returns the first rule that allows TCP to a host by name. name is in lower case without
// a trailing dot.
func (r Reach) Name(name string, port int) (*Rule, bool) {
	for i := range r {
		e := &r[i]
		if e.named(name) && (e.Port == 0 || e.Port == port) {
			return e, true
		}
	}
	return nil, false
}

// Asks reports whether any rule matches name, on any port: only then the resolver answers it.
func (r Reach) Asks(name string) bool {
	for i := range r {
		if r[i].named(name) {
			return true
		}
	}
	return false
}

// Addr returns the first rule that allows TCP to an address in the host's network. "localhost"
// in a rule means 127.0.0.1 and ::1. A range allows the host's loopback only if it contains
// nothing but loopback addresses: under 0.0.0.0/0, 127.0.0.1 remains the sandbox's own.
func (r Reach) Addr(ip IP, port int) (*Rule, bool) {
	for i := range r {
		e := &r[i]
		if (e.Port == 0 || e.Port == port) && (e.Prefix.Has(ip) && (e.Prefix.isLoopback() || !ip.Loopback()) || e.Name == localhost && ip.isLocalhost()) {
			return e, true
		}
	}
	return nil, false
}

// Wider lists the child's rules that allow more than the parent's.
func Wider(parent, child Reach) []*Rule {
	var more []*Rule
	for i := range child {
		if !slices.ContainsFunc(parent, func(p Rule) bool { return p.Covers(child[i].Endpoint) }) {
			more = append(more, &child[i])
		}
	}
	return more
}

// AnyOf reports whether r allows one of the others. For "localhost" a rule for its address
// counts too.
func AnyOf(r, others Reach) bool {
	return slices.ContainsFunc(others, func(other Rule) bool {
		if other.Name == localhost {
			if _, ok := r.Addr(V4(127, 0, 0, 1), other.Port); ok {
				return true
			}
		}
		return len(Wider(r, Reach{other})) == 0
	})
}
