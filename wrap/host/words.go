package host

import (
	"slices"
	"strings"
)

// wordBreaks separate the words of a command line: "$DIR/x" gives /x, "${DIR}/x" gives DIR
// and /x, and "--file=x" gives x. The rest of a path that began with a variable begins with
// a slash, and is looked up in the workspace.
const wordBreaks = " \t\r\n;&|()<>\"'`!=${},:[]"

// nameBytes are the characters of a shell variable's name.
const nameBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// splitWords calls each for the words of a text, except options.
func splitWords(text string, each func(word string)) {
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

// scriptWords calls each for the words of a shell script. run is set for words with a slash at
// the beginning of a command, and for the operands of a program that runs its operands. In
// other languages the beginning of a command cannot be recognised. Of the remaining words,
// each is called for those that look like a path and for the directories of cd, or for all
// if every is set.
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
				splitWords(field, func(word string) {
					next = next || isRunner(word) || begins && word == "."
					entersNext = entersNext || word == "cd" || word == "pushd"
					if slash := strings.IndexByte(word, '/') >= 0; every || slash || run || enters || strings.IndexByte(word, '.') >= 0 {
						each(word, run || begins && slash)
					}
				})
				run, enters = next, entersNext
				begins = begins && (slices.Contains(commandPrefixes[:], field) || strings.IndexByte(field, '=') > 0)
			}
		}
	}
}

// isShellLine reports whether a file with this first line is, or may be, a shell script.
func isShellLine(first string) bool {
	return !strings.HasPrefix(first, "#!") || strings.Contains(first, "sh")
}

// commandPrefixes are shell words after which a command begins.
var commandPrefixes = [...]string{"!", "command", "do", "elif", "else", "env", "eval", "exec", "if", "nice", "sudo", "then", "time", "until", "while", "{"}

// runners are programs and shell words, including direnv's, that execute or read the files
// in their operands. "." does too at the beginning of a command.
var runners = [...]string{
	"bash", "bats", "bun", "dash", "deno", "fish", "go", "ipython", "java", "julia", "ksh", "lua", "node", "nodejs",
	"perl", "php", "pwsh", "pypy3", "Rscript", "ruby", "sh", "source", "source_env", "source_env_if_exists",
	"ts-node", "tsx", "uv", "zsh", "zx",
}

// isRunner reports whether a word is one of the runners or a python of any version.
func isRunner(word string) bool {
	return slices.Contains(runners[:], base(word)) || strings.HasPrefix(base(word), "python")
}

// hasRunner reports whether a text contains a runner among its words.
func hasRunner(text string) (has bool) {
	splitWords(text, func(word string) { has = has || isRunner(word) })
	return has
}
