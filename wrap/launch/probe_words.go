package launch

import (
	"slices"
	"strings"
	"unicode/utf8"

	"sbx/wrap"
)

// wordBreaks part the words of a command line, wherever it stands: "$DIR/x",
// "${DIR}/x" and "--file=x" give /x and x. What is left of a path that began with a
// variable begins with a slash, and is looked for in the workspace.
const wordBreaks = " \t\r\n;&|()<>\"'`!=${},:[]"

// fineWords calls each for the words of a text; an option names no file.
func fineWords(text string, each func(word string)) {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(wordBreaks, c) }) {
		if word[0] != '-' {
			each(word)
		}
	}
}

// namedWords calls each for what may name a file in a settings file. runs tells
// that the word is one that is run or read; where it is not the file has to look
// like a program.
func namedWords(n *wrap.Naming, text string, each func(word string, runs bool)) {
	if n.When != "" && !strings.Contains(text, n.When) {
		return
	}
	all := func(value string) {
		if value[0] != '-' {
			each(value, true)
		}
		fineWords(value, func(word string) {
			if word != value {
				each(word, true)
			}
		})
	}
	switch n.Format {
	case wrap.Strings:
		jsonStrings(n, text, all)
	case wrap.Lines:
		keyedLines(n, text, func(line string) {
			for _, quote := range []string{`"`, `'`} {
				for i, value := range strings.Split(line, quote) {
					if i%2 == 1 && value != "" {
						each(value, true)
					}
				}
			}
			fineWords(line, func(word string) { each(word, true) })
		})
	case wrap.Script:
		scriptWords(text, each)
	}
}

// jsonStrings calls each for the strings of a JSON text that stand beneath a key of
// the row's. It is a scan for strings, brackets and colons, and not a parser: it
// takes comments, further commas, single quotes and keys without any as they are,
// and what no reader would take it gives all the same.
func jsonStrings(n *wrap.Naming, text string, each func(value string)) {
	all := len(n.Keys) == 0
	depth, within, keyed := 0, -1, false
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
			keyed = false
			at++
		case c == '}' || c == ']':
			if depth == within {
				within = -1
			}
			depth--
			keyed = false
			at++
		case c == ',':
			keyed = false
			at++
		case c == '"' || c == '\'' || isLetter(int(c)) || c == '_' || c == '$':
			value, size := jsonWord(text[at:])
			at = afterComments(text, at+size)
			switch {
			case strings.HasPrefix(text[at:], ":"):
				keyed = n.HasKey(value)
				at++
			case (all || within >= 0 || keyed) && value != "" && (c == '"' || c == '\''):
				each(value)
			}
		default:
			at++
		}
	}
}

// afterComments is where after at neither blanks nor comments go on.
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

// jsonWord is the string, or the word without quotes, that a text begins with, and
// how long it is there. A string ends with its line where it lacks a quote.
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

// jsonEscape is what an escape stands for, and how much more than one byte it takes.
func jsonEscape(text string) (c rune, more int) {
	switch text[0] {
	case 'n', 'r', 't', 'b', 'f':
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

// keyedLines calls each for the lines of a text that stand under a key of the
// row's: behind it, in lines that are indented after it or belong to its text of
// several lines, in a section called so.
func keyedLines(n *wrap.Naming, text string, each func(line string)) {
	within, section, goesOn := len(n.Keys) == 0, false, false
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimLeft(line, " \t")
		if trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';' {
			continue
		}
		switch {
		case len(n.Keys) == 0 || goesOn:
		case trimmed[0] == '[' && trimmed == line:
			section = true
			within = n.HasKey(firstKey(strings.TrimLeft(line, "[ ")))
		case !section && trimmed == line && (isLetter(int(line[0])) || line[0] == '"'):
			within = n.HasKey(firstKey(line))
		}
		if (strings.Count(line, `"""`)+strings.Count(line, "'''"))%2 == 1 {
			goesOn = !goesOn
		}
		if within {
			each(line)
		}
	}
}

// firstKey is the first part of a key: that of a.b, "a" or a for a line with a
// value.
func firstKey(line string) string {
	line = strings.TrimLeft(line, `"'`)
	if end := strings.IndexFunc(line, func(c rune) bool { return c >= 0x80 || c != '_' && !isKeyByte(int(c)) }); end >= 0 {
		return line[:end]
	}
	return line
}

// scriptWords calls each for the words of a shell's text: run are those with a
// slash that begin a command, and what comes after a program that runs its operands.
// In another language's nothing tells where a command begins.
func scriptWords(text string, each func(word string, runs bool)) {
	first, _, _ := strings.Cut(text, "\n")
	shell := isShellLine(first)
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") {
			continue
		}
		for command := range strings.FieldsFuncSeq(line, func(c rune) bool { return strings.ContainsRune(";&|()`", c) }) {
			begins, run := shell, false
			for field := range strings.FieldsSeq(command) {
				next := run
				fineWords(field, func(word string) {
					if slices.Contains(runners[:], base(word)) || strings.HasPrefix(base(word), "python") {
						next = true
					}
					if slash := strings.IndexByte(word, '/') >= 0; slash || run || strings.IndexByte(word, '.') >= 0 {
						each(word, run || begins && slash)
					}
				})
				run = next
				begins = begins && (slices.Contains(openers[:], field) || strings.IndexByte(field, '=') > 0)
			}
		}
	}
}

// isShellLine tells whether a file with that first line is a shell's, or may be.
func isShellLine(first string) bool {
	return !strings.HasPrefix(first, "#!") || strings.Contains(first, "sh")
}

// openers are words of a shell after which a command begins.
var openers = [...]string{"!", "command", "do", "elif", "else", "env", "eval", "exec", "if", "nice", "sudo", "then", "time", "until", "while", "{"}

// runners are programs and words of a shell's, direnv's among them, that run or read
// what their operands name.
var runners = [...]string{
	".", "bash", "bun", "dash", "deno", "fish", "go", "java", "ksh", "lua", "node", "perl", "php", "pwsh", "ruby",
	"sh", "source", "source_env", "source_env_if_exists", "ts-node", "tsx", "uv", "zsh",
}
