package host

import (
	"strings"

	"sbx/wrap/defaults"
)

// programWords calls each for the words of a settings file that may name a file. runs
// reports that the word is executed or read as a program; otherwise the file counts only if
// it looks like a program.
func programWords(n *defaults.Naming, text string, each func(word string, runs bool)) {
	if n.When != "" && !strings.Contains(text, n.When) {
		return
	}
	switch n.Format {
	case defaults.Strings:
		jsonStrings(n, text, func(value string, runs bool) { stringWords(value, runs, each) })
	case defaults.Lines:
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
	case defaults.Script:
		scriptWords(text, false, each)
	}
}

// stringWords calls each for a string of a JSON text and for its words. A string that a
// shell would split is a command line; for any other, runs applies to all its words.
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

// keyedLines calls each for the lines that belong to one of the row's keys: the line of the
// key, lines indented after it, the lines of its multi-line string, and the section of that
// name.
func keyedLines(n *defaults.Naming, text string, each func(line string)) {
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

// firstKey returns the first part of a line's key: a for a line that begins with a.b, "a" or
// a.
func firstKey(line string) string {
	line = strings.TrimLeft(line, `"'`)
	if end := strings.IndexFunc(line, func(c rune) bool { return c >= 0x80 || c != '_' && !isKeyByte(int(c)) }); end >= 0 {
		return line[:end]
	}
	return line
}
