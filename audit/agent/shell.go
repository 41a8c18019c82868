package agent

import "strings"

// shellWords splits a command line into words and removes the quotes, as a shell does for
// one simple command. ok is false if the line has any other shell syntax.
func shellWords(line string) (words []string, ok bool) {
	var word []byte
	in := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t':
			if in {
				words = append(words, string(word))
				word, in = word[:0], false
			}
		case '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return nil, false
			}
			word = append(word, line[i+1:i+1+end]...)
			i += 1 + end
			in = true
		case '"':
			in = true
			n, closed := 0, false
			if word, n, closed = doubleQuoted(word, line[i+1:]); !closed {
				return nil, false
			}
			i += n
		case '\\':
			if i++; i == len(line) {
				return nil, false
			}
			word = append(word, line[i])
			in = true
		case '|', '&', ';', '<', '>', '(', ')', '$', '`', '\n', '*', '?', '[', '#', '{', '}', '!':
			return nil, false
		default:
			word = append(word, c)
			in = true
		}
	}
	if in {
		words = append(words, string(word))
	}
	return words, true
}

// doubleQuoted appends the text of s up to its closing quote to dst; n is the number of
// bytes of s up to and including that quote. closed is false without a closing quote, and
// for an expansion, whose value is unknown.
func doubleQuoted(dst []byte, s string) (out []byte, n int, closed bool) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return dst, i + 1, true
		case '$', '`':
			return dst, 0, false
		case '\\':
			if i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
				i++
			}
		}
		dst = append(dst, s[i])
	}
	return dst, 0, false
}
