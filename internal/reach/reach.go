package reach

import (
	"slices"
	"strings"
)

// Rule is one endpoint that may be reached.
type Rule struct {
	Endpoint
	Text  string // the endpoint as it is written: "registry.npmjs.org:443"
	Cause string // what asked for it: "network.allow[0]", "network.allow[1]: @npm", "agent: claude"
	Why   string // of a set's host: what it is there for; may be empty
}

// Reach is the rules of one command, in their order.
type Reach []Rule

// Name finds the rule that allows TCP to a host that was asked for by name, which is
// in lower case and has no dot at its end.
func (r Reach) Name(name string, port int) (*Rule, bool) {
	for i := range r {
		e := &r[i]
		if e.named(name) && (e.Port == 0 || e.Port == port) {
			return e, true
		}
	}
	return nil, false
}

// Asks tells whether a name has any rule: whether the resolver answers it.
func (r Reach) Asks(name string) bool {
	for i := range r {
		if r[i].named(name) {
			return true
		}
	}
	return false
}

// Addr finds the rule that allows TCP to an address of the host's network.
// "localhost" in a rule is 127.0.0.1 and ::1. The host's loopback is meant by a range
// of nothing else alone: 0.0.0.0/0 leaves the sandbox its own.
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

// AnyOf tells whether r allows one of the others, or a way to it: what localhost stands
// for is reached by its address as well.
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

const localhost = "localhost"

// named tells whether an endpoint is meant by a name.
func (e *Endpoint) named(name string) bool {
	domain, wild := strings.CutPrefix(e.Name, "*")
	if !wild {
		return e.Name != "" && e.Name == name
	}
	return strings.HasSuffix(name, domain) && len(name) > len(domain)
}
