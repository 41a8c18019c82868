package show

import (
	"strings"
	"unicode/utf8"

	"sbx/audit"
	"sbx/spec"
)

// maxColumn is the widest cell that a column is aligned to.
const maxColumn = 44

// Text returns a record as text for a terminal. It contains no control characters but its own
// colours, whatever the names of the command's arguments and files.
func Text(v audit.View, colour bool) string {
	p := layOut(v)
	var b strings.Builder
	paint(&b, p.tone, colour, spec.Shown(p.title))
	b.WriteByte('\n')
	for _, s := range p.sections {
		if s.title != "" {
			b.WriteString("\n" + s.title + "\n")
		}
		widths := columns(s.rows)
		for _, r := range s.rows {
			showRow(&b, r, widths, colour)
		}
	}
	return b.String()
}

func showRow(b *strings.Builder, r row, widths []int, colour bool) {
	var line strings.Builder
	for i, c := range r.cells {
		if c == "" && widths[i] == 0 {
			continue
		}
		c = spec.Shown(c)
		line.WriteString(c + strings.Repeat(" ", max(widths[i]-width(c), 0)+2))
	}
	b.WriteString("  ")
	paint(b, r.tone, colour, strings.TrimRight(line.String(), " "))
	b.WriteByte('\n')
	for _, n := range r.notes {
		b.WriteString("      " + spec.Shown(n) + "\n")
	}
}

// columns returns the width of each column of a section.
func columns(rows []row) []int {
	var out []int
	for _, r := range rows {
		for i, c := range r.cells {
			if i == len(out) {
				out = append(out, 0)
			}
			if n := width(spec.Shown(c)); n <= maxColumn {
				out[i] = max(out[i], n)
			}
		}
	}
	return out
}

func width(s string) int { return utf8.RuneCountInString(s) }

func paint(b *strings.Builder, t tone, colour bool, s string) {
	code := [...]string{plain: "", good: "\x1b[32m", weak: "\x1b[33m", bad: "\x1b[31m"}[t]
	if !colour || code == "" {
		b.WriteString(s)
		return
	}
	b.WriteString(code + s + "\x1b[0m")
}
