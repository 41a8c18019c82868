package workshop

import (
	"path"
	"strings"

	"sbx/internal/doc"
	"sbx/internal/view"
	"sbx/spec"
)

// Migrate converts a worker's file from the old style to the new one. It changes only the sandbox, and
// puts the old sandbox and whatever the new form cannot express above it as comments. A file in the new
// style is returned unchanged, with a warning. The new form assumes a workshop whose root is the
// directory of the old relative paths.
func Migrate(name string, text []byte) (string, []spec.Warning, error) {
	w, err := DecodeWorker(name, text)
	if err != nil {
		return "", nil, err
	}
	if w.Old == nil {
		return string(text), []spec.Warning{{On: name, Text: "it is in the new style already"}}, nil
	}
	m := migration{name: name, s: string(text), old: w.Old}
	if err := m.find(w.Source.Root); err != nil {
		return "", nil, err
	}
	if err := m.narrow(w.Source.Root.Get("sandbox").Pos); err != nil {
		return "", nil, err
	}
	out := m.s[:m.from] + m.block() + m.s[m.to:]
	again, err := DecodeWorker(name, []byte(out))
	if err != nil || again.Old != nil || again.Restrict.Or("/") != m.restrict || again.Readonly.Or(false) != m.readonly {
		return "", nil, &doc.Error{Name: name, Field: "sandbox", Why: "it is written in a way that cannot be replaced", Help: "write sandbox as a block, a key a line"}
	}
	return out, m.warns, nil
}

// migration replaces s[from:to], the sandbox of an old-style file.
type migration struct {
	name     string
	s        string
	old      *OldSandbox
	from, to int
	indent   string
	eol      string
	restrict string
	readonly bool
	warns    []spec.Warning
}

// find sets from and to: the lines of the key sandbox and its value.
func (m *migration) find(root *doc.Node) error {
	var at doc.Pos
	for i := range root.Members {
		if root.Members[i].Key == "sandbox" {
			at = root.Members[i].KeyPos
		}
	}
	i := 0
	for range at.Line - 1 {
		_, i = lineAt(m.s, i)
	}
	line, next := lineAt(m.s, i)
	if indentOf(line) != at.Col-1 {
		return &doc.Error{Name: m.name, Pos: at, Field: "sandbox", Why: "it does not begin a line", Help: "write the front matter as a block, a key a line"}
	}
	m.from, m.to = i, next
	m.indent, m.eol = line[:at.Col-1], m.s[i+len(line):next]
	for i = next; i < len(m.s); {
		line, next := lineAt(m.s, i)
		switch rest := line[indentOf(line):]; {
		case rest == "" || rest[0] == '#': // part of the value only if more of it follows
		case indentOf(line) < at.Col && rest[0] != ']' && rest[0] != '}':
			return nil
		default:
			m.to = next
		}
		i = next
	}
	return nil
}

// narrow sets restrict to the smallest directory that contains all paths.
func (m *migration) narrow(at doc.Pos) error {
	m.readonly = true
	var kept []*OldPath
	for i := range m.old.Paths {
		p := &m.old.Paths[i]
		if p.Root[0] == '/' || p.Root[0] == '~' || spec.LeavesRoot(p.Root) {
			m.warn(p, "is left out: it does not lie in the workshop")
			continue
		}
		kept = append(kept, p)
		m.readonly = m.readonly && !p.Write
		if len(kept) == 1 {
			m.restrict = path.Clean("/" + p.Root)
		}
		for !view.Within(path.Clean("/"+p.Root), m.restrict) {
			m.restrict = view.Parent(m.restrict)
		}
	}
	if len(kept) == 0 {
		return &doc.Error{Name: m.name, Pos: at, Field: "sandbox.paths", Why: "none of its paths lies in the workshop, and a worker's sandbox can name nothing else", Help: "name them in a --spec"}
	}
	for _, p := range kept {
		if path.Clean("/"+p.Root) != m.restrict || !p.Write && !m.readonly {
			m.warn(p, "becomes wider: one directory is opened, "+doc.Word(doc.Cut(m.restrict))+mode(!m.readonly))
		}
	}
	m.warns = append(m.warns, m.old.Lost...)
	return nil
}

func mode(write bool) string {
	if write {
		return " (rw)"
	}
	return " (ro)"
}

func (m *migration) warn(p *OldPath, what string) {
	text := "paths." + doc.Word(doc.Cut(p.Name)) + ", " + doc.Word(doc.Cut(p.Root)) + mode(p.Write) + ", " + what
	m.warns = append(m.warns, spec.Warning{Field: "sandbox", On: placeOf(m.name, p.Pos), Text: text})
}

// block returns the new sandbox with its comments.
func (m *migration) block() string {
	var b strings.Builder
	line := func(s string) { b.WriteString(m.indent + s + m.eol) }
	for _, w := range m.warns {
		line("# " + w.Text)
	}
	line("# In the old style it was:")
	for i := m.from; i < m.to; {
		old, next := lineAt(m.s, i)
		line(strings.TrimRight("#   "+strings.TrimPrefix(old, m.indent), " \t"))
		i = next
	}
	if m.restrict == "/" && !m.readonly {
		line("sandbox: {}")
		return b.String()
	}
	line("sandbox:")
	if m.restrict != "/" {
		line("  restrict: " + doc.Quote(m.restrict))
	}
	if m.readonly {
		line("  readonly: true")
	}
	return b.String()
}
