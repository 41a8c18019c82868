package host

import (
	"slices"
	"strings"
)

// wordBreaks part the words of a command line, wherever it stands: "$DIR/x" gives /x,
// "${DIR}/x" that and DIR, and "--file=x" x. What is left of a path that began with
// a variable begins with a slash, and is looked for in the workspace.
const wordBreaks = " \t\r\n;&|()<>\"'`!=${},:[]"

// nameBytes are those of a shell's variable.
const nameBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// fineWords calls each for the words of a text; an option names no file.
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

// isShellLine tells whether a file with that first line is a shell's, or may be.
func isShellLine(first string) bool {
	return !strings.HasPrefix(first, "#!") || strings.Contains(first, "sh")
}

// openers are words of a shell after which a command begins.
var commandPrefixes = [...]string{"!", "command", "do", "elif", "else", "env", "eval", "exec", "if", "nice", "sudo", "then", "time", "until", "while", "{"}

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
	splitWords(text, func(word string) { has = has || isRunner(word) })
	return has
}
