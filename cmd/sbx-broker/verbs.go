package main

import (
	"strings"

	"sbx/internal/doc"
)

// verb is a command of the program, with its arguments.
type verb struct{ name, args, does string }

// verbs are listed in the help, the manual and the completions.
var verbs = []verb{
	{"check", "--broker FILE [--plan FILE] [--spec FILE ...] [--spec-json JSON ...] [--profile NAME]", "say what would become of each step, and run nothing"},
	{"answer", "[ID yes|no]", "answer a question; without an ID ask on the terminal"},
	{"connect", "", "inside: carry MCP over stdio to the broker of the sandbox"},
	{"schema", "[broker|plan]", "print the JSON Schema of a document"},
	{"serve", "", "be the broker of a sandbox: sbx starts it"},
	{"man", "", "print the manual page"},
	{"completion", "bash|zsh|fish", "print the completions of a shell"},
}

const (
	about = "Decides calls of tools for what runs in a sandbox, by a Broker document and a\n" +
		"plan, and carries them out outside of it: see cmd/sbx-broker/README.md.\n"
	statuses = "0; 1 if a step would be denied, or no such question waits; 125 if\n" +
		"a document is refused; 2 for a bad command line.\n"
	example = "sbx-broker check --broker broker.yaml --plan plan.json --spec spec.json\n"
)

func usage() string {
	var b strings.Builder
	b.WriteString("usage: sbx-broker COMMAND [flags]\n\n" + about + "\n")
	for _, v := range verbs {
		if line := "  " + v.name + " " + v.args; len(line) < 19 {
			b.WriteString(line + strings.Repeat(" ", 19-len(line)) + v.does + "\n")
		} else {
			b.WriteString(line + "\n" + strings.Repeat(" ", 19) + v.does + "\n")
		}
	}
	b.WriteString("\nExit status: " + statuses + "\nExample:\n\n  " + example)
	return b.String()
}

// manual returns the page sbx-broker(1).
func manual() string {
	var b strings.Builder
	b.WriteString(".TH SBX\\-BROKER 1\n.SH NAME\nsbx\\-broker \\- run tools for what is in a sandbox, outside of it\n" +
		".SH SYNOPSIS\n.B sbx\\-broker\n.I verb\n[flags]\n.SH DESCRIPTION\n" + doc.Roff(about) + ".SH VERBS\n")
	for _, v := range verbs {
		b.WriteString(".TP\n.B " + doc.Roff(strings.TrimSpace(v.name+" "+v.args)) + "\n" + doc.Roff(v.does) + "\n")
	}
	b.WriteString(".SH EXIT STATUS\n" + doc.Roff(statuses) + ".SH EXAMPLES\n.EX\n" + doc.Roff(example) + ".EE\n.SH SEE ALSO\n.BR sbx\\-exec (1),\n.BR sbx\\-spec (5)\n")
	return b.String()
}
