package document

import (
	"strings"

	"sbx/internal/doc"
)

// Template is a text with arguments in it: "--title={title}"; {{ and }} are braces.
type Template []part

// part is a text, or the name of an argument.
type part struct{ text, arg string }

// ReadTemplate reads a template; why tells what is wrong with it.
func ReadTemplate(s string) (t Template, why string) {
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

// Only is the argument that is all of the template; "" where that is not so.
func (t Template) Only() string {
	if len(t) == 1 {
		return t[0].arg
	}
	return ""
}

// Begins tells whether an argument stands at its front.
func (t Template) Begins() bool { return len(t) > 0 && t[0].arg != "" }

// Args are the arguments in it.
func (t Template) Args() (names []string) {
	for _, p := range t {
		if p.arg != "" {
			names = append(names, p.arg)
		}
	}
	return names
}

// Fill gives the texts that the template stands for: one, none where an argument is not
// given, and many where it is one argument alone, which is a list.
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

// Text is a value as a program gets it: a string itself, anything else as JSON.
func Text(n *doc.Node) string {
	if n.Kind == doc.String {
		return n.Text
	}
	return string(n.AppendCanonical(nil))
}

// list is the argument that is a list, where the template is "KIND:{argument}".
func (t Template) list(args *doc.Node) *doc.Node {
	if len(t) != 2 || t[1].arg == "" {
		return nil
	}
	if n := args.Get(t[1].arg); n != nil && n.Kind == doc.List {
		return n
	}
	return nil
}
