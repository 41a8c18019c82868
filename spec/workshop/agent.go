package workshop

import (
	"sbx/internal/doc"
	"sbx/internal/doc/decode"
	"sbx/spec"
)

// AgentFile is the part of an agent's .md file that concerns sbx: the keys name and tools of its front
// matter, which belongs to the agent's own program. The text below, the agent's prompt, is not read.
type AgentFile struct {
	Name string // "" where the file has none

	// Tools are the patterns as written. If absent, the agent inherits its tools; tools without a
	// value and an empty list mean no tools at all.
	Tools spec.Opt[[]string]

	Warnings []spec.Warning
	Source   spec.Source // Root has the keys above; the caller sets Dir
}

// DecodeAgentFile reads an agent's file. The error is a *spec.DecodeError.
func DecodeAgentFile(name string, text []byte) (*AgentFile, error) {
	f, err := readFront(name, text)
	if err != nil {
		return nil, err
	}
	d := decode.Decoder{Name: name}
	a := &AgentFile{Warnings: f.warns, Source: spec.Source{Name: name, Root: f.root, Kind: spec.AgentDefinition}}
	decode.Object(&d, f.root, agentFields, a)
	if d.Err != nil {
		return nil, d.Err
	}
	return a, nil
}

// Spec returns the spec that means the same as the agent's file.
func (a *AgentFile) Spec() *spec.SandboxSpec {
	root := &doc.Node{Kind: doc.Object, Pos: a.Source.Root.Pos}
	s := &spec.SandboxSpec{ToolsAllowed: a.Tools, Source: a.Source}
	if a.Tools.Set {
		root.Members = []doc.Member{toolsMember(a.Source.Root, a.Tools.Value)}
	}
	s.Source.Root = root
	return s
}

// toolsMember returns tools as tools_allowed, with the place that they have in the file.
func toolsMember(front *doc.Node, tools []string) doc.Member {
	at := front.Get("tools").Pos
	list := &doc.Node{Kind: doc.List, Pos: at}
	for _, t := range tools {
		list.Items = append(list.Items, &doc.Node{Kind: doc.String, Pos: at, Text: t})
	}
	return doc.Member{Key: "tools_allowed", KeyPos: at, Value: list}
}

var agentFields = []decode.Field[AgentFile]{
	{Name: "name", Read: func(d *decode.Decoder, n *doc.Node, a *AgentFile) { a.Name = d.String(n, spec.TextRule) }},
	{Name: "tools", Read: func(d *decode.Decoder, n *doc.Node, a *AgentFile) { a.Tools = spec.Some(readTools(d, n)) }},
	{Name: "sandbox", Read: func(d *decode.Decoder, n *doc.Node, _ *AgentFile) {
		d.FailMeant(n.Pos, "an agent's file has no sandbox", "", "give a worker's file by --worker")
	}},
}

// readTools reads a list of tools, or a line of them. As agents do, it accepts a line as an item, too.
func readTools(d *decode.Decoder, n *doc.Node) []string {
	all := []string{}
	add := func(item *doc.Node) {
		line := d.String(item, spec.TextRule)
		split, ok := splitTools(line)
		if !ok {
			d.FailMeant(item.Pos, "a parenthesis that is not closed in "+doc.Quote(doc.Cut(line)), "", "a pattern with a comma in it needs quotes inside [ ]")
		}
		for _, tool := range split {
			if why, meant, help := spec.ToolRule(tool); why != "" {
				d.FailMeant(item.Pos, why, meant, help)
			}
		}
		all = append(all, split...)
	}
	switch n.Kind {
	case doc.Null: // "tools:" alone
	case doc.String:
		add(n)
	default:
		d.Each(n, "a list of tools, or a line of them with commas", add)
	}
	return all
}

// splitTools splits a line of tools at commas and blanks outside of parentheses: "Read, Bash(git add:*,
// git commit:*)" is two. ok is false if the parentheses do not match.
func splitTools(line string) (tools []string, ok bool) {
	depth, from := 0, 0
	for i := 0; i <= len(line); i++ {
		c := byte(',')
		if i < len(line) {
			c = line[i]
		}
		switch {
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return nil, false
			}
		case depth > 0 && i < len(line):
		case c == ',' || isWhite(c) || isBreak(c):
			if from < i {
				tools = append(tools, line[from:i])
			}
			from = i + 1
		}
	}
	return tools, depth == 0
}
