package main

import (
	"strings"

	"sbx/internal/doc"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap/launch"
)

// streams are the descriptors that a command of sbx reads and writes. Only this file
// prints. On stderr every line begins with "sbx: ", in lower case and without a full stop;
// stdout has the requested output only and, under exec, the command's.
type streams struct {
	in, out, err int
	voice        *linePrinter // while a command runs
}

// say writes lines for a person to stderr.
func (s streams) say(text string) {
	all := ""
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		all += "sbx: " + spec.Shown(line) + "\n"
	}
	if s.voice != nil {
		s.voice.say(s.err, all)
		return
	}
	launch.Unstopped(func() { _ = sys.WriteAll(s.err, all) })
}

// print writes to stdout.
func (s streams) print(text string) bool { return sys.WriteAll(s.out, text) == nil }

// problem prints a problem.
func (s streams) problem(p *spec.Problem) {
	for _, line := range spec.Told(p) {
		s.say(line)
	}
}

// misused prints an error in the command line, and returns the exit status.
func (s streams) misused(text string) int {
	s.say(text)
	return exitUsage
}

// failed prints an error, and returns the exit status.
func (s streams) failed(err error) int {
	if usage, ok := err.(usageError); ok {
		return s.misused(string(usage))
	}
	for _, p := range spec.AsProblems(err) {
		s.problem(p)
	}
	return exitFailed
}

// quoteJSON returns s as a JSON string.
func quoteJSON(s string) string { return string(doc.AppendShown(nil, s)) }
