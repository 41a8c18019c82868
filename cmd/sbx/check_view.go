package main

import (
	"path"
	"strings"

	"sbx/audit/show"
	"sbx/internal/doc"
	"sbx/internal/view"
	"sbx/spec"
)

// shown is a part of the list of files in `sbx check`.
type shown struct {
	title string
	is    func(view.Grant) bool
}

// The titles of the parts that -v prints, too.
const (
	mayBeWritten = "may be written"
	private      = "private, ends with the sandbox"
	hidden       = "hidden"
)

// shownAs are the parts in the order in which they are printed. A grant belongs to the
// first part that it fits.
var shownAs = [...]shown{
	{mayBeWritten, func(g view.Grant) bool { return g.Access == view.Write && g.Source != "" && !g.Copied }},
	{"protected, may be read", func(g view.Grant) bool { return g.Access == view.Read && g.Protected }},
	{private, func(g view.Grant) bool { return g.Access == view.Write }},
	{"may be read", func(g view.Grant) bool { return g.Access == view.Read }},
	{hidden, func(g view.Grant) bool { return g.Access == view.Hidden }},
	{"out of view", func(view.Grant) bool { return true }},
}

// inWords returns the title of the part for a grant.
func inWords(g view.Grant) string {
	for _, s := range shownAs {
		if s.is(g) {
			return s.title
		}
	}
	return ""
}

// because returns the line of the document, or the default, that decides a grant.
func (x *execution) because(g view.Grant) string {
	list, _, _ := strings.Cut(g.Because.Field, "[")
	return x.sourceText(g.Because.Field, list, g.Because.Why)
}

// sourceText returns the name of a source of a rule, the position of field in the
// documents, and the reason why.
func (x *execution) sourceText(name, field, why string) string {
	if at := x.Resolved.At(spec.Field(field)); at != "" {
		name += " (" + at + ")"
	}
	if why != "" {
		name += ": " + why
	}
	return name
}

// places returns the paths of one part.
func (x *execution) places(title string) (all []string) {
	for _, at := range x.prepared.Plan.Seen().Places() {
		if inWords(x.prepared.Plan.Seen().At(at)) == title {
			all = append(all, at)
		}
	}
	return all
}

// viewParts lists what the command may do at which paths.
func (x *execution) viewParts() (parts []show.Part) {
	for _, s := range shownAs {
		part := show.Part{Title: s.title}
		for _, at := range x.places(s.title) {
			g := x.prepared.Plan.Seen().At(at)
			why := x.because(g)
			if g.Source != "" && g.Source != at {
				why += ", from " + spec.Name(g.Source)
			}
			part.Rows = append(part.Rows, show.Row{What: spec.Name(at), Why: why})
		}
		if len(part.Rows) > 0 {
			parts = append(parts, part)
		}
	}
	return parts
}

// partsText returns a title and a line for each row of the parts.
func partsText(parts []show.Part) string {
	var b strings.Builder
	for _, part := range parts {
		b.WriteString(part.Title + ":\n")
		for _, r := range part.Rows {
			b.WriteString("  " + strings.TrimRight(pad(r.What, 40)+" "+spec.Shown(r.Why), " ") + "\n")
		}
	}
	return b.String()
}

// viewText returns viewParts as text, with the other things that are hidden from the
// command.
func (x *execution) viewText() string {
	var b strings.Builder
	b.WriteString(partsText(x.viewParts()))
	if dropped := x.Resolved.Dropped; len(dropped) > 0 {
		b.WriteString("variables that are not passed:")
		for _, name := range dropped {
			b.WriteString(" " + spec.Name(name))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// writeView writes the same as members of an object.
func (x *execution) writeView(w *doc.Writer) {
	doc.Values(w, "files", x.prepared.Plan.Seen().Places(), func(at *string) { x.writeGrant(w, *at, x.prepared.Plan.Seen().At(*at)) })
	w.KeyList("dropped", x.Resolved.Dropped)
}

func (x *execution) writeGrant(w *doc.Writer, at string, g view.Grant) {
	w.Open('{')
	w.KeyStr("path", at)
	w.KeyStr("access", g.Access.String())
	w.KeyText("source", g.Source)
	if g.Access == view.Write {
		w.KeyBool("kept", g.Source != "" && !g.Copied)
	}
	w.KeyFlag("protected", g.Protected)
	w.KeyStr("because", x.because(g))
	w.Close('}')
}

// pathText says what the command may do at one path, and why.
func (x *execution) pathText(at string) string {
	g := x.prepared.Plan.Seen().At(at)
	if x.has("json") {
		w := &doc.Writer{}
		x.writeGrant(w, at, g)
		return string(w.B) + "\n"
	}
	text := spec.Name(at) + ": " + inWords(g)
	if _, err := (spec.HostPaths{}).Lstat(g.Source); g.Source != "" && err != nil {
		text += " (nothing is there)"
	}
	if why := x.because(g); why != "" {
		text += ": " + spec.Shown(why)
	}
	return text + "\n"
}

// path returns a path as absolute and without links, as far as it exists.
func (x *execution) path(given string) string {
	if rest, ok := strings.CutPrefix(given, "~"); ok && (rest == "" || rest[0] == '/') {
		given = x.home() + rest
	} else if !path.IsAbs(given) {
		given = x.Resolved.Start() + "/" + given
	}
	given = path.Clean(given)
	for dir := given; dir != "/"; dir = path.Dir(dir) {
		if real, err := spec.Real(dir, spec.HostPaths{}); err == nil {
			return path.Clean(real + given[len(dir):])
		}
	}
	return given
}
