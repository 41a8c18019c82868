package show

import (
	"slices"
	"strings"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/spec"
)

// change is a line that differs between two records; a or b is nil if that record lacks it.
type change struct {
	section, key string
	a, b         *row
}

// Compare returns, as text for a terminal, how record b differs from record a.
func Compare(a, b audit.View, colour bool) string {
	var out strings.Builder
	out.WriteString("- " + spec.Shown(layOut(a).title) + "\n+ " + spec.Shown(layOut(b).title) + "\n")
	changes := changed(a, b)
	if len(changes) == 0 {
		out.WriteString("\nnothing differs\n")
	}
	for len(changes) > 0 {
		title := changes[0].section
		n := slices.IndexFunc(changes, func(c change) bool { return c.section != title })
		if n < 0 {
			n = len(changes)
		}
		out.WriteString("\n" + title + "\n")
		var rows []row
		for _, c := range changes[:n] {
			rows = append(rows, marked("-", bad, c.a)...)
			rows = append(rows, marked("+", good, c.b)...)
		}
		widths := columns(rows)
		for _, r := range rows {
			showRow(&out, r, widths, colour)
		}
		changes = changes[n:]
	}
	return out.String()
}

func marked(mark string, t tone, r *row) []row {
	if r == nil {
		return nil
	}
	return []row{{tone: t, cells: append([]string{mark}, r.cells...), notes: r.notes}}
}

// CompareJSON returns the differences as one JSON object.
func CompareJSON(a, b audit.View) []byte {
	w := doc.Writer{Lines: 1, Text: audit.Kept}
	w.Open('{')
	w.KeyStr("a", audit.Text(a.Node.Get("id")))
	w.KeyStr("b", audit.Text(b.Node.Get("id")))
	doc.Objects(&w, "changes", changed(a, b), func(c *change) {
		w.KeyStr("section", c.section)
		w.KeyStr("key", c.key)
		for _, side := range []struct {
			name string
			row  *row
		}{{"a", c.a}, {"b", c.b}} {
			if side.row != nil {
				w.KeyList(side.name, append(slices.Clone(side.row.cells), side.row.notes...))
			}
		}
	})
	w.Close('}')
	return append(w.B, '\n')
}

// changed returns the lines that differ, by sections, those of a first.
func changed(a, b audit.View) (all []change) {
	left, right := compared(a), compared(b)
	for i, s := range left {
		all = append(all, differing(s.title, s.rows, right[i].rows)...)
	}
	return all
}

// compared returns the sections of a record to compare, without its id and times, which always
// differ.
func compared(v audit.View) []section {
	n := v.Node
	run := slices.DeleteFunc(overview(v), func(r row) bool { return r.cells[0] == "started" || r.cells[0] == "ended" })
	return []section{
		{"verdict", verdict(v)},
		{"refused to start", refusal(n.Get("error"))},
		{"denied", denialRows(n)},
		{"run", run},
		{"requested", append(asked(n.Get("requested")), jobDirs(n.Get("resolved"))...)},
		{"enforced", append(enforcement(n, true), enforcement(n, false)...)},
		{"connections", connections(n.Get("network"))},
		{"protected files", protected(n)},
		{"resource usage", used(n)},
		{"artifacts", artifacts(n)},
	}
}

func differing(title string, a, b []row) (all []change) {
	rest := slices.Clone(b)
	for _, r := range a {
		i := slices.IndexFunc(rest, func(o row) bool { return keyOf(title, o) == keyOf(title, r) })
		if i < 0 {
			all = append(all, change{title, keyOf(title, r), &r, nil})
			continue
		}
		if o := rest[i]; !slices.Equal(o.cells, r.cells) || !slices.Equal(o.notes, r.notes) {
			all = append(all, change{title, keyOf(title, r), &r, &o})
		}
		rest = slices.Delete(rest, i, i+1)
	}
	for _, r := range rest {
		all = append(all, change{title, keyOf(title, r), nil, &r})
	}
	return all
}

// keyOf identifies what a line is about: lines with the same key are compared.
func keyOf(title string, r row) string {
	n := 1
	if title == "denied" {
		n = 3 // kind, action, target
	}
	return strings.Join(r.cells[:min(n, len(r.cells))], " ")
}
