package host

import (
	"strings"
	"unicode/utf8"

	"sbx/wrap/defaults"
)

// jsonList is an object or a list of a JSON text. It records whether the command is known
// whose operands are in the list, or in a list of the object, and whether it runs its
// operands. The command is unknown if it comes after its operands or is missing.
type jsonList struct {
	list, first         bool // is a list; the next string is the command
	known, runsOperands bool
}

// isRun reports whether the list's next string may be executed, or read by a program that
// executes it.
func (l *jsonList) isRun(key, value string) bool {
	switch {
	case l.first, !l.list && isCommandKey(key):
		l.first, l.known, l.runsOperands = false, true, hasRunner(value)
		return true
	case !l.list:
		return true
	}
	runs := !l.known || l.runsOperands
	l.runsOperands = l.runsOperands || hasRunner(value)
	return runs
}

// isCommandKey reports whether the value of a key is a command rather than operands.
func isCommandKey(key string) bool {
	return defaults.Matches(key, "*command") || defaults.Matches(key, "cmd")
}

// jsonStrings calls each for the strings of a JSON text that stand under one of the row's
// keys. runs is false for operands of a program that does not run them. It only scans for
// strings, brackets and colons: it accepts comments, trailing commas, single quotes and
// unquoted keys, and also reports strings that no JSON reader would accept.
func jsonStrings(n *defaults.Naming, text string, each func(value string, runs bool)) {
	all := len(n.Keys) == 0
	depth, within, keyed, key := 0, -1, false, ""
	lists := []jsonList{{}}
	for at := 0; at < len(text); {
		if at = afterComments(text, at); at == len(text) {
			return
		}
		switch c := text[at]; {
		case c == '{' || c == '[':
			depth++
			if keyed && within < 0 {
				within = depth
			}
			in := jsonList{list: c == '['}
			if last := lists[len(lists)-1]; in.list {
				in.first = isCommandKey(key)
				in.known, in.runsOperands = last.known, last.runsOperands
			}
			lists = append(lists, in)
			keyed, key = false, ""
			at++
		case c == '}' || c == ']':
			if depth == within {
				within = -1
			}
			depth--
			if len(lists) > 1 {
				lists = lists[:len(lists)-1]
			}
			keyed, key = false, ""
			at++
		case c == ',':
			keyed, key = false, ""
			at++
		case c == '"' || c == '\'' || isLetter(int(c)) || c == '_' || c == '$':
			value, size := jsonWord(text[at:])
			at = afterComments(text, at+size)
			switch {
			case strings.HasPrefix(text[at:], ":"):
				keyed, key = n.HasKey(value), value
				at++
			case value != "" && (c == '"' || c == '\''):
				if runs := lists[len(lists)-1].isRun(key, value); all || within >= 0 || keyed {
					each(value, runs)
				}
			}
		default:
			at++
		}
	}
}

// afterComments returns the offset, from at, of the first byte that is neither a blank nor
// part of a comment.
func afterComments(text string, at int) int {
	for {
		rest := strings.TrimLeft(text[at:], " \t\r\n")
		end := ""
		switch {
		case strings.HasPrefix(rest, "//"):
			end = "\n"
		case strings.HasPrefix(rest, "/*"):
			end = "*/"
		default:
			return len(text) - len(rest)
		}
		_, rest, _ = strings.Cut(rest[2:], end)
		at = len(text) - len(rest)
	}
}

// jsonWord returns the string or unquoted word at the beginning of a text, and its length
// in the text. A string without a closing quote ends with its line.
func jsonWord(text string) (value string, size int) {
	quote := text[0]
	if quote != '"' && quote != '\'' {
		for size < len(text) && (isKeyByte(int(text[size])) || text[size] == '_' || text[size] == '$') {
			size++
		}
		return text[:size], size
	}
	var b []byte
	for size = 1; size < len(text); size++ {
		switch c := text[size]; {
		case c == quote:
			return string(b), size + 1
		case c == '\n':
			return string(b), size
		case c == '\\' && size+1 < len(text):
			size++
			c, more := jsonEscape(text[size:])
			b = utf8.AppendRune(b, c)
			size += more
		default:
			b = append(b, c)
		}
	}
	return string(b), size
}

// jsonEscape decodes an escape, and returns how many bytes it takes beyond the first.
func jsonEscape(text string) (c rune, more int) {
	switch text[0] {
	case 'n':
		return '\n', 0
	case 'r', 't', 'b', 'f':
		return ' ', 0
	case 'u':
		for more < 4 && more+1 < len(text) {
			digit := strings.IndexByte("0123456789abcdef", lower(int(text[more+1])))
			if digit < 0 {
				break
			}
			c, more = c<<4|rune(digit), more+1
		}
		return c, more
	}
	return rune(text[0]), 0
}
