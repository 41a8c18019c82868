package show

import (
	"strings"

	"sbx/spec"
)

// style is the whole style of the page; it loads nothing. No cell is narrower than its longest
// word, unless that is wider than the page.
const style = `:root{--dim:#666;--line:#ddd;--soft:#f5f5f5;--bar:#7aa5d8;--good:#17692f;--weak:#8a5a00;--bad:#a4161a}
body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:1.5rem auto;padding:0 1rem;color:#1b1b1b;background:#fff;overflow-wrap:break-word}
h1{font-size:1.25rem;margin:.2rem 0}h2{font-size:1rem;margin:1.6rem 0 .3rem}p{margin:0;color:var(--dim);font-size:.9em}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.7rem;margin:1rem 0}
.tiles div{border:1px solid var(--line);border-radius:8px;padding:.5rem .7rem;color:inherit}.tiles b{display:block;font-size:1.2rem}.tiles span{color:var(--dim);font-size:.85em}
.good,.good b{color:var(--good)}.weak,.weak b{color:var(--weak)}.bad,.bad b{color:var(--bad)}
.row{display:flex;flex-wrap:wrap;gap:0 1rem;padding:.2rem 0;border-bottom:1px solid var(--line)}.row span{flex:1 1 7rem;max-width:100%}.row p{flex:0 0 100%;max-width:100%}
.run{display:flex;flex-wrap:wrap;gap:0 .8rem;align-items:center;padding:.1rem 0}.run span{flex:0 1 20rem;max-width:100%;box-sizing:border-box}.run span:last-child{flex:0 0 5rem;margin-left:auto;text-align:right;color:var(--dim);font-size:.85em}
.bar{flex:1 1 20rem;position:relative;height:.8rem;background:var(--soft);border-radius:3px;overflow:hidden}.bar i{position:absolute;top:0;bottom:0;min-width:3px;border-radius:3px;background:var(--bar)}.bar i.open{background:linear-gradient(90deg,var(--bar),transparent)}.bad .bar i{background:var(--bad)}
details{margin:.3rem 0}pre{margin:.5rem 0}summary{cursor:pointer}pre{background:var(--soft);padding:.6rem .8rem;border-radius:6px;white-space:pre-wrap}
@media(max-width:44rem){.run span{flex:1 1 10rem}.bar{flex:0 0 100%;order:1}}
@media(prefers-color-scheme:dark){:root{--dim:#999;--line:#333;--soft:#222;--bar:#44719f;--good:#6cc583;--weak:#e0b15a;--bad:#f0787c}body{color:#ddd;background:#161616}}`

func class(t tone) string {
	return [...]string{plain: "", good: ` class="good"`, weak: ` class="weak"`, bad: ` class="bad"`}[t]
}

// escapeHTML escapes text for elements and quoted attributes of HTML.
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

// breakable is escapeHTML for text that may contain paths: it allows a line break after each
// "/" but the first.
func breakable(s string) string {
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '/') + 1
		if i == 0 {
			i = len(s)
		}
		b.WriteString(escapeHTML(s[:i]))
		if i > 1 && i < len(s) && s[i-2] != ' ' {
			b.WriteString("<wbr>")
		}
		s = s[i:]
	}
	return b.String()
}

// escapeLines is escapeHTML for lines.
func escapeLines(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = escapeHTML(line)
	}
	return strings.Join(lines, "\n")
}
