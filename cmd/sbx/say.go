package main

import (
	"strconv"
	"strings"

	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// streams are the descriptors that a verb reads and writes. This file is the
// one place of sbx that prints. On stderr every line begins with "sbx: ", in
// lower case and without a full stop; stdout is for what was asked for, and
// under exec for the command alone.
type streams struct {
	in, out, err int
	voice        *voice // while a command runs
}

// say writes lines for the person to stderr.
func (s streams) say(text string) {
	all := ""
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		all += "sbx: " + line + "\n"
	}
	if s.voice != nil {
		s.voice.say(s.err, all)
		return
	}
	launch.Unstopped(func() { writeAll(s.err, all) })
}

// print writes to stdout.
func (s streams) print(text string) bool { return writeAll(s.out, text) }

// problem tells a refusal: what was attempted, why not, what would help.
func (s streams) problem(p *spec.Problem) {
	s.say(p.Head())
	if p.Why != "" {
		s.say("why: " + p.Why)
	}
	if p.Help != "" {
		s.say("hint: " + p.Help)
	}
}

// quote quotes text only where it is odd.
func quote(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\'' || c == '\\' {
			return strconv.Quote(s)
		}
	}
	if s == "" {
		return `""`
	}
	return s
}

// clean makes text from a document or a host safe for a terminal.
func clean(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] == 0x7f || s[i] >= 0x80 {
			q := strconv.QuoteToGraphic(s)
			return q[1 : len(q)-1]
		}
	}
	return s
}

// quoteJSON is s as a JSON string.
func quoteJSON(s string) string { return string(wrap.AppendString(nil, s)) }
