package policy

import "strings"

// matches reports whether a glob matches all of s: ** matches any text, * any text without
// a /, ? one character except /. It takes time proportional to the product of both
// lengths.
func matches(glob, s string) bool {
	// Where to continue for the last * and the last **. The part before a ** never
	// needs to be tried again.
	type mark struct{ glob, s int }
	star, deep := mark{-1, 0}, mark{-1, 0}
	g, i := 0, 0
	for i < len(s) {
		switch {
		case strings.HasPrefix(glob[g:], "**"):
			g += 2
			deep, star = mark{g, i}, mark{-1, 0}
			continue
		case g < len(glob) && glob[g] == '*':
			g++
			star = mark{g, i}
			continue
		case g < len(glob) && (glob[g] == s[i] || glob[g] == '?' && s[i] != '/'):
			g, i = g+1, i+1
			continue
		}
		switch {
		case star.glob >= 0 && s[star.s] != '/':
			star.s++
			g, i = star.glob, star.s
		case deep.glob >= 0:
			deep.s++
			star = mark{-1, 0}
			g, i = deep.glob, deep.s
		default:
			return false
		}
	}
	return strings.Trim(glob[g:], "*") == ""
}

// literals are parts of every text that matches a glob; "" where the glob fixes none.
type literals struct{ begins, ends, longest string }

func literalsOf(glob string) (l literals) {
	parts := strings.FieldsFunc(glob, func(r rune) bool { return r == '*' || r == '?' })
	for _, part := range parts {
		if len(part) > len(l.longest) {
			l.longest = part
		}
	}
	if len(parts) > 0 && strings.HasPrefix(glob, parts[0]) {
		l.begins = parts[0]
	}
	if len(parts) > 0 && strings.HasSuffix(glob, parts[len(parts)-1]) {
		l.ends = parts[len(parts)-1]
	}
	return l
}
