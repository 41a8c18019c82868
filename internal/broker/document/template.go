package document

import (
	"strings"

	"sbx/internal/doc"
)

// Template is a text with arguments in it: "--title={title}". {{ and }} stand for braces.
type Template []part

// part is a text, or the name of an argument.
type part struct{ text, arg string }

// readTemplate reads a template; why says what is wrong with it.
func readTemplate(s string) (t Template, why string) {
	var text strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '{' && c != '}' {
			text.WriteByte(c)
			continue
		}
		if i+1 < len(s) && s[i+1] == c {
			text.WriteByte(c)
			i++
			continue
		}
		end := strings.IndexByte(s[i:], '}')
		if c == '}' || end < 0 || !isName(s[i+1:i+end]) {
			return nil, "want {ARGUMENT}, or {{ and }} for braces"
		}
		if text.Len() > 0 {
			t = append(t, part{text: text.String()})
			text.Reset()
		}
		t = append(t, part{arg: s[i+1 : i+end]})
		i += end
	}
	if text.Len() > 0 || len(t) == 0 {
		t = append(t, part{text: text.String()})
	}
	return t, ""
}

// Only returns the argument if the template is nothing but one; "" otherwise.
func (t Template) Only() string {
	if len(t) == 1 {
		return t[0].arg
	}
	return ""
}

// Begins reports whether the template begins with an argument.
func (t Template) Begins() bool { return len(t) > 0 && t[0].arg != "" }

// Args returns the names of the arguments in the template.
func (t Template) Args() (names []string) {
	for _, p := range t {
		if p.arg != "" {
			names = append(names, p.arg)
		}
	}
	return names
}

// Fill returns the texts for which the template stands: none if an argument is missing,
// one for each item if the template is nothing but one argument and that is a list,
// otherwise one.
func (t Template) Fill(args *doc.Node) (all []string) {
	if n := args.Get(t.Only()); n != nil && n.Kind == doc.List {
		for _, item := range n.Items {
			all = append(all, Text(item))
		}
		return all
	}
	var b strings.Builder
	for _, p := range t {
		if p.arg == "" {
			b.WriteString(p.text)
			continue
		}
		n := args.Get(p.arg)
		if n == nil {
			return nil
		}
		b.WriteString(Text(n))
	}
	return []string{b.String()}
}

// Text returns a value as a program gets it: a string as it is, anything else as JSON.
func Text(n *doc.Node) string {
	if n.Kind == doc.String {
		return n.Text
	}
	return string(n.AppendCanonical(nil))
}

// list returns the argument if it is a list and the template is "KIND:{argument}"; nil
// otherwise.
func (t Template) list(args *doc.Node) *doc.Node {
	if len(t) != 2 || t[1].arg == "" {
		return nil
	}
	if n := args.Get(t[1].arg); n != nil && n.Kind == doc.List {
		return n
	}
	return nil
}
