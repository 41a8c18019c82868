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
// What a rule is depends on the tool:
//
//   - Bash(git status): the command, to the letter.
//   - Bash(git:*), Bash(git *): the command git with any arguments or none, but
//     not gitk. Before :* a star is a star.
//   - Bash(git * main), Bash(ls*): * stands for any characters, \* for itself.
//     The short form of a rule whose only star is " *" at its end is the above.
//   - Read, Edit, Write and the other tools of files: a path with * (no slash),
//     ** and ?. //etc/x is absolute, ~/x counts from the home directory; /x, ./x
//     and a/x count from the working directory; a bare x is that name anywhere
//     beneath it. What is beneath a directory that matches, matches.
//   - WebFetch(domain:example.com): that host alone; domain:*.example.com those
//     beneath it.
//   - Any other: the target, where * stands for any characters.
type Tool struct {
	Name string
	Rule string // "" for every call
}

// ParseTool reads a pattern; ok is false for what a spec could not hold.
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

// String is the pattern.
func (t Tool) String() string {
	if t.Rule == "" {
		return t.Name
	}
	return t.Name + "(" + t.Rule + ")"
}

// Place is what paths in rules count from; absolute, without a slash at the end.
type Place struct{ Dir, Home string }

// Names tells whether the pattern is about the tool called name, in Claude's
// words or in the agent's own.
func (t Tool) Names(name string) bool {
	switch {
	case strings.Contains(t.Name, "*"):
		return slices.ContainsFunc(alsoCalled(name), func(n string) bool { return wild(t.Name).matches(n) })
	case mainName(t.Name) == mainName(name):
		return true
	}
	return mcpServer(t.Name) && strings.HasPrefix(name, t.Name+"__")
}

// Matches tells whether a call of a tool that the pattern names is one of those
// it is about, by the call's target: one command without operators, an absolute
// path, a URL, a word.
func (t Tool) Matches(target string, at Place) bool {
	return t.Rule == "" || t.globs(at).matches(t.subject(target))
}

// subject is the part of a target that the rule is held against.
func (t Tool) subject(target string) string {
	if t.kind() == urlTarget && strings.HasPrefix(t.Rule, "domain:") {
		return "domain:" + urlHost(target)
	}
	return target
}

// Covers tells whether every call that u is about is one that t is about. It
// is exact for names, commands and words; for paths it may be false where a
// closer look would say true, never the other way round.
func (t Tool) Covers(u Tool) bool {
	if !t.coversName(u) {
		return false
	}
	if t.Rule == "" {
		return true
	}
	// A rule means what its tool makes of it, so both must be of one kind.
	if u.Rule == "" || t.kind() != u.kind() || strings.Contains(u.Name, "*") {
		return false
	}
	// Where the directories lie does not matter, only that they are the same ones.
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

// mcpServer tells whether a name is mcp__SERVER.
func mcpServer(name string) bool {
	server, ok := strings.CutPrefix(name, "mcp__")
	return ok && server != "" && !strings.Contains(server, "__") && !strings.Contains(server, "*")
}

// mainName is the one of Claude's names for a tool that the table leads.
func mainName(name string) string {
	for i := range agentTools {
		if slices.Contains(agentTools[i].claude, name) {
			return agentTools[i].name
		}
	}
	return name
}

// alsoCalled is all of Claude's names for the tool, name itself first.
func alsoCalled(name string) []string {
	names := []string{name}
	for i := range agentTools {
		if row := &agentTools[i]; row.name == mainName(name) && len(row.claude) > 0 {
			names = append(append(names, row.name), row.claude...)
		}
	}
	return names
}

// targetKind is what a tool's target is.
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

// kind is what the tool's target is, whichever agent's word its name is.
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

// urlHost is the host of a URL in lower case, "" where there is none.
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
