package host

import (
	"strings"

	"sbx/wrap"
)

// namedWords calls each for what may name a file in a settings file. runs tells
// that the word is one that is run or read; where it is not the file has to look
// like a program.
func programWords(n *wrap.Naming, text string, each func(word string, runs bool)) {
	if n.When != "" && !strings.Contains(text, n.When) {
		return
	}
	switch n.Format {
	case wrap.Strings:
		jsonStrings(n, text, func(value string, runs bool) { stringWords(value, runs, each) })
	case wrap.Lines:
		keyedLines(n, text, func(line string) {
			for _, quote := range []string{`"`, `'`} {
				for i, value := range strings.Split(line, quote) {
					if i%2 == 1 && value != "" {
						each(value, true)
					}
				}
			}
			splitWords(line, func(word string) { each(word, true) })
		})
	case wrap.Script:
		scriptWords(text, false, each)
	}
}

// stringWords calls each for a string of a JSON text and for its words. One that a
// shell would part is a command line; in any other, runs holds for all of it.
func stringWords(value string, runs bool, each func(word string, runs bool)) {
	if value[0] != '-' {
		each(value, runs)
	}
	rest := func(word string, runs bool) {
		if word != value {
			each(word, runs)
		}
	}
	if strings.ContainsAny(value, " \t\n;&|()<>`") {
		scriptWords(value, true, rest)
		return
	}
	splitWords(value, func(word string) { rest(word, runs) })
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
