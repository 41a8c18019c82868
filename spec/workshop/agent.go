package workshop

import (
	"sbx/internal/doc"
	"sbx/internal/doc/decode"
	"sbx/spec"
)

// AgentFile is what an agent's .md file says to sbx. Its front matter belongs
// to the agent's own program; the keys name and tools are read, and the text
// behind it, the agent's prompt, is not.
type AgentFile struct {
	Name string // "" where the file has none

	// Tools are the patterns as written: the file is the truth for them. Absent
	// inherits; tools without a value and an empty list are no tools at all.
	Tools spec.Opt[[]string]

	Warnings []spec.Warning
	Source   spec.Source // Root is an object of the keys above; Dir is the caller's to set
}

// DecodeAgentFile reads an agent's file. The error is a *DecodeError.
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

// Spec is the agent file as the spec that says the same.
func (a *AgentFile) Spec() *spec.SandboxSpec {
	root := &doc.Node{Kind: doc.Object, Pos: a.Source.Root.Pos}
	s := &spec.SandboxSpec{ToolsAllowed: a.Tools, Source: a.Source}
	if a.Tools.Set {
		root.Members = []doc.Member{toolsMember(a.Source.Root, a.Tools.Value)}
	}
	s.Source.Root = root
	return s
}

// toolsMember is tools as tools_allowed, where the file has them.
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

// readTools reads a list of tools, or a line of them. An item may be a line too:
// that is how agents read them.
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

// splitTools cuts a line of tools at commas and blanks, but not inside of
// parentheses: "Read, Bash(git add:*, git commit:*)" is two. ok is false where
// the parentheses do not match.
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
