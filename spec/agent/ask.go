package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

// Ask is what the flags of an agent should achieve.
type Ask struct {
	Allowed spec.Opt[[]string]  // Claude's names and patterns; unset: every tool
	Denied  []string            // Claude's names and patterns; they override Allowed
	Only    spec.Opt[[]string]  // claude's names; the caller's own limit of the allowed tools
	Mode    spec.PermissionMode // 0: the agent's own default
	Access  spec.AccessMode     // what the kernel lets the agent's tools write
	Writes  []string            // documents of a read-only project that it lets them write too
	Dirs    []string            // absolute; additional directories that the agent works in
	Servers *Servers            // the MCP servers of the agent's own configuration; nil if nobody looked

	Broker Broker // runs tools for the agent

	// Inside is true if the agent runs under sbx: its own sandbox cannot start there, and the
	// kernel enforces the same.
	Inside bool
	// PolicyFile is the path to which the caller writes what Policy returns; "" for none.
	PolicyFile string
}

// Broker is the MCP server by which an agent uses the tools of sbx's broker: a URL or a command
// line. The zero Broker is none.
type Broker struct {
	URL     string
	Command []string
}

// BrokerTools is claude's pattern for the tools of the broker.
const (
	BrokerTools = "mcp__" + brokerServer + "__*"

	brokerServer = "sbx"
)

// set reports whether there is a broker.
func (b *Broker) set() bool { return b.URL != "" || len(b.Command) > 0 }

// withBroker adds the broker's tools to the allowed ones, unless all are allowed.
func (a Ask) withBroker() Ask {
	if a.Broker.set() && a.Allowed.Set {
		a.Allowed.Value = append(slices.Clone(a.Allowed.Value), BrokerTools)
	}
	return a
}

// spelled returns a with Claude's names only: it replaces the agent's own names and names with a
// star by the tools that they stand for, since no agent's allow-list accepts a star. A denied
// name with a star stays for claude: --disallowedTools accepts it, and it covers tools that
// are not in sbx's table.
func (a Ask) spelled(ag spec.Agent) (Ask, []Lack) {
	var lacking []Lack
	all := a
	if a.Allowed.Set {
		all.Allowed.Value = []string{}
		for _, t := range a.Allowed.Value {
			if anyTool(t) {
				all.Allowed = spec.Opt[[]string]{}
				break
			}
			means := meanings(ag, t)
			if len(means) == 0 {
				lacking = append(lacking, Lack{Tool: t, Why: "no tool of that form is known", Missing: true})
			}
			all.Allowed.Value = append(all.Allowed.Value, means...)
		}
	}
	all.Denied = nil
	for _, t := range a.Denied {
		if anyTool(t) {
			all.Allowed = spec.Some([]string{})
		}
		if stars := strings.Contains(nameOf(t), "*"); stars && ag == spec.Claude {
			all.Denied = append(all.Denied, t)
		} else if stars && len(meanings(ag, t)) == 0 {
			lacking = append(lacking, Lack{Tool: t, Why: "no tool of that form is known"})
		}
		for _, m := range meanings(ag, t) {
			if !slices.Contains(all.Denied, m) {
				all.Denied = append(all.Denied, m)
			}
		}
	}
	return all, lacking
}

// denies reports whether every use of a tool is denied.
func (a Ask) denies(name string) bool {
	return slices.ContainsFunc(a.Denied, func(t string) bool {
		n, rule := split(t)
		return spec.ClaudeTool(spec.Claude, n) == name && rule == ""
	})
}

// has reports whether some use of a tool is allowed.
func (a Ask) has(name string) bool {
	return !a.denies(name) && (!a.Allowed.Set || slices.Contains(names(a.Allowed.Value), name))
}

// granted returns the allowed patterns, except those of tools that are denied.
func (a Ask) granted() []string {
	var all []string
	for _, t := range a.Allowed.Value {
		if !a.denies(names([]string{t})[0]) {
			all = append(all, t)
		}
	}
	return all
}

// rules returns the patterns under which a tool is granted; whole is true if every use of it is.
func (a Ask) rules(name string) (rules []string, whole bool) {
	if !a.Allowed.Set {
		return nil, a.has(name)
	}
	for _, t := range a.granted() {
		switch n, rule := split(t); {
		case n != name:
		case rule == "" || rule == "*" || rule == ":*":
			whole = true
		default:
			rules = append(rules, rule)
		}
	}
	return rules, whole
}

// deniedRules returns the denied patterns of tools of which other uses are allowed.
func (a Ask) deniedRules() []string {
	var all []string
	for _, t := range a.Denied {
		if name, rule := split(t); rule != "" && a.has(name) {
			all = append(all, t)
		}
	}
	return all
}

// deniedQuietly returns the denied tools that are not among the acting ones.
func (a Ask) deniedQuietly() []string {
	var all []string
	for _, t := range names(a.Denied) {
		if a.denies(t) && !slices.Contains(acting, t) && !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}

// closed reports whether the kernel makes the whole project read-only.
func (a Ask) closed() bool { return a.Access == spec.ReadOnly && len(a.Writes) == 0 }

// withheld returns the acting tools that the agent may not use.
func (a Ask) withheld() []string {
	var all []string
	for _, t := range acting {
		if !a.has(t) {
			all = append(all, t)
		}
	}
	return all
}
