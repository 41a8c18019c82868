package spec

import (
	"slices"
	"strings"
)

// Tool is one entry of tools_allowed or tools_denied: a pattern as Claude
// writes them.
//
//	Name         every call of the tool; Name(*) is the same
//	Name(rule)   the calls whose target the rule matches
//
// In Name, * stands for any characters. mcp__SERVER is every tool of that
// server. Agent is Task and MultiEdit is Edit, as in ToolNames; other names
// stand for themselves alone: Edit is not Write.
//
// The meaning of a rule depends on the tool:
//
//   - Bash(git status): the command, to the letter.
//   - Bash(git:*), Bash(git *): the command git with any arguments or none, but
//     not gitk. Before :* a star is a star.
//   - Bash(git * main), Bash(ls*): * stands for any characters, \* for itself.
//     The short form of a rule whose only star is " *" at its end is the above.
//   - Read, Edit, Write and the other tools of files: a path with * (no slash),
//     ** and ?. //etc/x is absolute, ~/x counts from the home directory; /x, ./x
//     and a/x count from the working directory; a bare x is that name anywhere
//     under it. Everything under a directory that matches, matches.
//   - WebFetch(domain:example.com): that host alone; domain:*.example.com those
//     under it.
//   - Any other: the target, where * stands for any characters.
type Tool struct {
	Name string
	Rule string // "" for every call
}

// ParseTool reads a pattern; ok is false if it is invalid.
func ParseTool(s string) (t Tool, ok bool) {
	if why, _, _ := ToolRule(s); why != "" {
		return Tool{}, false
	}
	name, rule, _ := strings.Cut(s, "(")
	rule = strings.TrimSuffix(rule, ")")
	if rule == "*" {
		rule = ""
	}
	return Tool{Name: name, Rule: rule}, true
}

// String returns the pattern.
func (t Tool) String() string {
	if t.Rule == "" {
		return t.Name
	}
	return t.Name + "(" + t.Rule + ")"
}

// Place has the directories from which paths in rules count; absolute, without a trailing slash.
type Place struct{ Dir, Home string }

// Names reports whether the pattern is about the tool called name, by Claude's or the agent's name.
func (t Tool) Names(name string) bool {
	switch {
	case strings.Contains(t.Name, "*"):
		return slices.ContainsFunc(alsoCalled(name), func(n string) bool { return wild(t.Name).matches(n) })
	case mainName(t.Name) == mainName(name):
		return true
	}
	return mcpServer(t.Name) && strings.HasPrefix(name, t.Name+"__")
}

// Matches reports whether the pattern, which names the called tool, matches the target of the call: one
// command without operators, an absolute path, a URL, or a word.
func (t Tool) Matches(target string, at Place) bool {
	return t.Rule == "" || t.globs(at).matches(t.subject(target))
}

// subject returns the part of a target that the rule is compared with.
func (t Tool) subject(target string) string {
	if t.kind() == urlTarget && strings.HasPrefix(t.Rule, "domain:") {
		return "domain:" + urlHost(target)
	}
	return target
}

// Covers reports whether t matches every call that u matches. It is exact for names, commands and
// words; for paths it may return false although t covers u, but never the other way round.
func (t Tool) Covers(u Tool) bool {
	if !t.coversName(u) {
		return false
	}
	if t.Rule == "" {
		return true
	}
	// The meaning of a rule depends on the kind of tool, so both must be of the same kind.
	if u.Rule == "" || t.kind() != u.kind() || strings.Contains(u.Name, "*") {
		return false
	}
	// The places of the directories do not matter, only that they are the same for both.
	at := Place{Dir: "\x01", Home: "\x02"}
	return t.globs(at).cover(u.globs(at))
}

func (t Tool) coversName(u Tool) bool {
	if !strings.Contains(u.Name, "*") {
		return t.Names(u.Name)
	}
	if mcpServer(t.Name) {
		return strings.HasPrefix(u.Name, t.Name+"__")
	}
	return strings.Contains(t.Name, "*") && wild(t.Name).cover(wild(u.Name))
}

// mcpServer reports whether a name is mcp__SERVER.
func mcpServer(name string) bool {
	server, ok := strings.CutPrefix(name, "mcp__")
	return ok && server != "" && !strings.Contains(server, "__") && !strings.Contains(server, "*")
}

// mainName returns the first of Claude's names for a tool in the table.
func mainName(name string) string {
	for i := range agentTools {
		if slices.Contains(agentTools[i].claude, name) {
			return agentTools[i].name
		}
	}
	return name
}

// alsoCalled returns all of Claude's names for the tool, name itself first.
func alsoCalled(name string) []string {
	names := []string{name}
	for i := range agentTools {
		if row := &agentTools[i]; row.name == mainName(name) && len(row.claude) > 0 {
			names = append(append(names, row.name), row.claude...)
		}
	}
	return names
}

// targetKind is the kind of a tool's target.
type targetKind uint8

const (
	wordTarget targetKind = iota
	shellTarget
	fileTarget
	urlTarget
)

var targetKinds = []struct {
	kind  targetKind
	tools []string
}{
	{shellTarget, []string{"Bash", "Monitor"}},
	{fileTarget, []string{"Read", "Edit", "Write", "NotebookEdit", "Grep", "Glob", "LS"}},
	{urlTarget, []string{"WebFetch"}},
}

// kind returns the kind of the tool's target, by any agent's name of the tool.
func (t Tool) kind() targetKind {
	for _, k := range targetKinds {
		for _, tool := range k.tools {
			if mainName(t.Name) == tool {
				return k.kind
			}
			for _, a := range []Agent{Codex, Gemini} {
				if native, _ := ToolNames(a, tool); slices.Contains(native, t.Name) {
					return k.kind
				}
			}
		}
	}
	return wordTarget
}

// urlHost returns the host of a URL in lower case; "" if there is none.
func urlHost(url string) string {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return ""
	}
	if end := strings.IndexAny(rest, "/?#\\"); end >= 0 {
		rest = rest[:end]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && !strings.HasSuffix(rest, "]") {
		rest = rest[:i]
	}
	return strings.TrimSuffix(strings.ToLower(rest), ".")
}
