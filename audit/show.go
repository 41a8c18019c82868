package audit

import (
	"strings"
	"unicode/utf8"

	"sbx/spec"
)

// maxColumn is the widest that one cell makes its column.
const maxColumn = 44

// Show is a record for a person: what was asked, what held, what was refused,
// how it ended and what was used. Nothing in it reaches a terminal as a
// control character, whatever the command's arguments and files were called.
func Show(v View, colour bool) string {
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

// columns is the width of each column of a section.
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

// style is all that the page looks like; it loads nothing.
const style = `body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}
h1{font-size:1.3rem}h2{font-size:1rem;margin:1.5rem 0 .3rem}
table{border-collapse:collapse;width:100%}td{padding:.15rem .8rem .15rem 0;vertical-align:top;border-bottom:1px solid #ddd;overflow-wrap:anywhere}
p{margin:0;color:#666;font-size:.9em}.good{color:#17692f}.weak{color:#8a5a00}.bad{color:#a4161a}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}td{border-color:#333}p{color:#999}.good{color:#6cc583}.weak{color:#e0b15a}.bad{color:#f0787c}}`

// ShowHTML is the same as one page that holds all it needs, runs no script and
// asks nothing of the network.
func ShowHTML(v View) string {
	p := layOut(v)
	var b strings.Builder
	title := escapeHTML(p.title)
	b.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">` + "\n" +
		"<meta name=\"viewport\" content=\"width=device-width\">\n<title>" + title + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n")
	b.WriteString("<h1" + class(p.tone) + ">" + title + "</h1>\n")
	for _, s := range p.sections {
		if s.title != "" {
			b.WriteString("<h2>" + escapeHTML(s.title) + "</h2>\n")
		}
		b.WriteString("<table>\n")
		for _, r := range s.rows {
			htmlRow(&b, r)
		}
		b.WriteString("</table>\n")
	}
	b.WriteString("</body>\n</html>\n")
	return b.String()
}

func htmlRow(b *strings.Builder, r row) {
	b.WriteString("<tr>")
	for i, c := range r.cells {
		cl := ""
		if i <= 1 {
			cl = class(r.tone)
		}
		b.WriteString("<td" + cl + ">" + escapeHTML(c))
		if i == len(r.cells)-1 {
			for _, n := range r.notes {
				b.WriteString("<p>" + escapeHTML(n) + "</p>")
			}
		}
		b.WriteString("</td>")
	}
	b.WriteString("</tr>\n")
}

func class(t tone) string {
	return [...]string{plain: "", good: ` class="good"`, weak: ` class="weak"`, bad: ` class="bad"`}[t]
}

// escapeHTML is text for HTML's elements and quoted attributes.
func escapeHTML(s string) string {
	s = spec.Shown(s)
	if !strings.ContainsAny(s, `&<>"'`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '"':
			b.WriteString("&#34;")
		case '\'':
			b.WriteString("&#39;")
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
