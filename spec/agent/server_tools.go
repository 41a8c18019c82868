package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

// serverTools says which tools of one MCP server the agent may use.
type serverTools struct {
	all, none bool
	only, not []string // if neither all nor none
	unsaid    []string // patterns for some of its tools that have a star or a rule
}

// limitsServers reports whether some tools of MCP servers have to be withheld.
func (a Ask) limitsServers() bool {
	every := func(t string) bool { return (spec.Tool{Name: nameOf(t)}).Covers(spec.Tool{Name: mcp + "*"}) }
	return a.Allowed.Set && !slices.ContainsFunc(a.granted(), every) || slices.ContainsFunc(a.Denied, isMCP)
}

// reaches returns which tools of a server the agent may use.
func (a Ask) reaches(server string) serverTools {
	r := serverTools{all: !a.Allowed.Set}
	for _, t := range a.granted() {
		whole, tool, some := aboutServer(t, server)
		r.all = r.all || whole
		if tool != "" && !slices.Contains(r.only, tool) {
			r.only = append(r.only, tool)
		}
		if some {
			r.unsaid = append(r.unsaid, t)
		}
	}
	if r.all {
		r.only, r.unsaid = nil, nil
	}
	for _, t := range a.Denied {
		whole, tool, some := aboutServer(t, server)
		if whole {
			return serverTools{none: true}
		}
		if tool != "" {
			r.not = append(r.not, tool)
			r.only = slices.DeleteFunc(r.only, func(has string) bool { return has == tool })
		}
		if some {
			r.unsaid = append(r.unsaid, t)
		}
	}
	r.none = !r.all && len(r.only) == 0 && len(r.unsaid) == 0
	r.all = r.all && len(r.not) == 0 && len(r.unsaid) == 0
	return r
}

// aboutServer reports whether a pattern is about all tools of a server, about one and which, or
// about some of them by a star or a rule.
func aboutServer(pattern, server string) (whole bool, tool string, some bool) {
	name, rule := split(pattern)
	prefix := mcp + server + "__"
	fixed, _, star := strings.Cut(name, "*")
	switch {
	case !isMCP(name):
		return false, "", false
	case (spec.Tool{Name: name}).Covers(spec.Tool{Name: prefix + "*"}):
		return rule == "" || rule == "*", "", rule != "" && rule != "*"
	case star:
		return false, "", strings.HasPrefix(fixed, prefix) || strings.HasPrefix(prefix, fixed)
	case !strings.HasPrefix(name, prefix):
		return false, "", false
	case rule != "" && rule != "*":
		return false, "", true
	}
	return false, name[len(prefix):], false
}
