package spec

// AgentFile is what an agent's .md file says to sbx. Its front matter belongs
// to the agent's own program; the keys name and tools are read, and the text
// behind it, the agent's prompt, is not.
type AgentFile struct {
	Name string // "" where the file has none

	// Tools are the patterns as written: the file is the truth for them. Absent
	// inherits; tools without a value and an empty list are no tools at all.
	Tools Opt[[]string]

	Warnings []Warning
	Source   Source // Root is an object of the keys above; Dir is the caller's to set
}

// DecodeAgentFile reads an agent's file. The error is a *DecodeError.
func DecodeAgentFile(name string, text []byte) (*AgentFile, error) {
	f, err := readFront(name, text)
	if err != nil {
		return nil, err
	}
	d := decoder{name: name, other: true}
	a := &AgentFile{Warnings: f.warns, Source: Source{Name: name, Root: f.root, Kind: AgentDefinition}}
	object(&d, f.root, agentFields, a)
	if d.err != nil {
		return nil, d.err
	}
	return a, nil
}

// Spec is the agent file as the spec that says the same.
func (a *AgentFile) Spec() *SandboxSpec {
	root := &Node{Kind: Object, Pos: a.Source.Root.Pos}
	s := &SandboxSpec{ToolsAllowed: a.Tools, Source: a.Source}
	if a.Tools.Set {
		root.Members = []Member{toolsMember(a.Source.Root, a.Tools.Value)}
	}
	s.Source.Root = root
	return s
}

// toolsMember is tools as tools_allowed, where the file has them.
func toolsMember(front *Node, tools []string) Member {
	at := front.Get("tools").Pos
	list := &Node{Kind: List, Pos: at}
	for _, t := range tools {
		list.Items = append(list.Items, &Node{Kind: String, Pos: at, Text: t})
	}
	return Member{Key: "tools_allowed", KeyPos: at, Value: list}
}

var agentFields = []member[AgentFile]{
	{"name", func(d *decoder, n *Node, a *AgentFile) { a.Name = d.string(n, textRule) }, nil},
	{"tools", func(d *decoder, n *Node, a *AgentFile) { a.Tools = d.tools(n) }, nil},
	{"sandbox", func(d *decoder, n *Node, _ *AgentFile) {
		d.failMeant(n.Pos, "an agent's file has no sandbox", "", "give a worker's file by --worker")
	}, nil},
}

// tools reads a list of tools, or a line of them. An item may be a line too:
// that is how agents read them.
func (d *decoder) tools(n *Node) Opt[[]string] {
	all := []string{}
	add := func(item *Node) {
		line := d.string(item, textRule)
		split, ok := splitTools(line)
		if !ok {
			d.failMeant(item.Pos, "a parenthesis that is not closed in "+quote(cut(line)), "", "a pattern with a comma in it needs quotes inside [ ]")
		}
		for _, tool := range split {
			if why, meant, help := toolRule(tool); why != "" {
				d.failMeant(item.Pos, why, meant, help)
			}
		}
		all = append(all, split...)
	}
	switch n.Kind {
	case Null: // "tools:" alone
	case String:
		add(n)
	default:
		d.each(n, "a list of tools, or a line of them with commas", add)
	}
	return Some(all)
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
