package agent

import (
	"slices"
	"strconv"
	"strings"

	"sbx/spec"
)

// serverTools is what of one MCP server's tools may be used.
type serverTools struct {
	all, none bool
	only, not []string // where neither
	unsaid    []string // patterns that are about some of its tools by a star
}

const mcp = "mcp__"

// limitsServers tells whether some of MCP servers' tools are to be withheld.
func (a Ask) limitsServers() bool {
	every := func(t string) bool { return (spec.Tool{Name: nameOf(t)}).Covers(spec.Tool{Name: mcp + "*"}) }
	return a.Allowed.Set && !slices.ContainsFunc(a.granted(), every) || slices.ContainsFunc(a.Denied, isMCP)
}

// reaches is what of a server's tools may be used.
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

// aboutServer tells whether a pattern is about all tools of a server, which one,
// or some of them by a star or a rule.
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

// codexServers switches off the servers that codex's own configuration names,
// and tools of theirs. Nothing switches off one whose name nobody knows, but the
// two features that bring such.
func (w *answer) codexServers() {
	if !w.ask.limitsServers() {
		return
	}
	found := w.ask.Servers
	if found == nil {
		w.lack(mcp+"*", "codex's own configuration, which names MCP servers, was not looked at")
		return
	}
	switch {
	case w.ask.Allowed.Set || w.ask.reaches("\x00").none: // a name that nobody has
		w.flag("-c", "features.plugins=false")
		w.keepServers("no plugins, which may bring MCP servers", "features.plugins=false")
	case len(found.Plugins) > 0:
		w.lack(mcp+"*", "codex's plugins ("+strings.Join(found.Plugins, ", ")+") may bring MCP servers of any name")
	}
	if !w.ask.reaches("codex_apps").all {
		w.flag("-c", "features.apps=false")
		w.keepServers("no tools of codex's apps", "features.apps=false")
	}
	if found.Unsure != "" {
		w.lack(mcp+"*", "the MCP servers that codex gets are not known: "+found.Unsure)
	}
	if found.Roles != "" && w.ask.has("Task") {
		w.lack(mcp+"*", "which MCP servers codex's sub-agents get stands in "+found.Roles)
	}
	var odd, plain []string // one setting of the whole table would take back those before it
	var off []string
	for _, s := range found.All {
		r := w.ask.reaches(s.Name)
		var sets []string
		switch {
		case r.none:
			sets = append(sets, "enabled=false")
			off = append(off, s.Name)
		case len(r.unsaid) > 0:
			w.lack(r.unsaid[0], "codex takes no pattern of an MCP server's tools")
		case len(r.only) > 0:
			sets = append(sets, "enabled_tools="+tomlList(r.only))
			w.keepServers("of MCP server "+s.Name+" "+strings.Join(r.only, ", ")+" alone", "enabled_tools")
		case len(r.not) > 0:
			sets = append(sets, "disabled_tools="+tomlList(r.not))
			w.keepServers("of MCP server "+s.Name+" not "+strings.Join(r.not, ", "), "disabled_tools")
		}
		if len(sets) > 0 && s.define != "" {
			if !r.none { // what it would be made of is not what it is
				w.lack(mcp+s.Name, "codex may take it from a project, whose configuration it believes or does not")
				continue
			}
			sets = append(sets, s.define)
		}
		switch {
		case isBare(s.Name):
			for _, set := range sets {
				plain = append(plain, "-c", "mcp_servers."+s.Name+"."+set)
			}
		case len(sets) > 0:
			odd = append(odd, tomlText(s.Name)+"={"+strings.Join(sets, ",")+"}")
		}
	}
	if len(odd) > 0 {
		w.flag("-c", "mcp_servers={"+strings.Join(odd, ",")+"}")
	}
	w.flag(plain...)
	if len(off) > 0 {
		w.keepServers("no MCP servers "+strings.Join(off, ", "), "switched off by -c mcp_servers")
	}
}

// tomlText is a text as TOML has it.
func tomlText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteString(`\u` + strconv.FormatInt(0x10000+int64(r), 16)[1:])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func tomlList(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = tomlText(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
