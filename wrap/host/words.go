package host

import (
	"slices"
	"strings"

	"sbx/wrap"
)

// wordBreaks part the words of a command line, wherever it stands: "$DIR/x" gives /x,
// "${DIR}/x" that and DIR, and "--file=x" x. What is left of a path that began with
// a variable begins with a slash, and is looked for in the workspace.
const wordBreaks = " \t\r\n;&|()<>\"'`!=${},:[]"

// nameBytes are those of a shell's variable.
const nameBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// fineWords calls each for the words of a text; an option names no file.
func fineWords(text string, each func(word string)) {
	for text != "" {
		end := strings.IndexAny(text, wordBreaks)
		if end < 0 {
			end = len(text)
		}
		if end > 0 && text[0] != '-' {
			each(text[:end])
		}
		switch text = text[end:]; {
		case text == "":
		case text[0] == '$':
			text = strings.TrimLeft(text[1:], nameBytes)
		default:
			text = text[1:]
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
			fineWords(line, func(word string) { each(word, true) })
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
	fineWords(value, func(word string) { rest(word, runs) })
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
// In another language's nothing tells where a command begins. Of the rest it gives
// what looks like a path and the directories of cd, or every word.
func scriptWords(text string, every bool, each func(word string, runs bool)) {
	first, _, _ := strings.Cut(text, "\n")
	shell := isShellLine(first)
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") {
			continue
		}
		for command := range strings.FieldsFuncSeq(line, func(c rune) bool { return strings.ContainsRune(";&|()`", c) }) {
			begins, run, enters := shell, false, false
			for field := range strings.FieldsSeq(command) {
				next, entersNext := run, false
				fineWords(field, func(word string) {
					next = next || isRunner(word) || begins && word == "."
					entersNext = entersNext || word == "cd" || word == "pushd"
					if slash := strings.IndexByte(word, '/') >= 0; every || slash || run || enters || strings.IndexByte(word, '.') >= 0 {
						each(word, run || begins && slash)
					}
				})
				run, enters = next, entersNext
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
// what their operands name; "." is one too where it begins a command.
var runners = [...]string{
	"bash", "bats", "bun", "dash", "deno", "fish", "go", "ipython", "java", "julia", "ksh", "lua", "node", "nodejs",
	"perl", "php", "pwsh", "pypy3", "Rscript", "ruby", "sh", "source", "source_env", "source_env_if_exists",
	"ts-node", "tsx", "uv", "zsh", "zx",
}

// isRunner tells whether a word is one of the runners, or a python of any version.
func isRunner(word string) bool {
	return slices.Contains(runners[:], base(word)) || strings.HasPrefix(base(word), "python")
}

// hasRunner tells whether one of the words of a text is a runner.
func hasRunner(text string) (has bool) {
	fineWords(text, func(word string) { has = has || isRunner(word) })
	return has
}
