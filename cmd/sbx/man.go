package main

import (
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
)

// runMan implements `sbx man`. The pages of commands come from the same table as the help,
// those of documents from their schemas.
func runMan(c *call) int {
	if len(c.rest) == 0 {
		c.std.print(manual())
		return exitOK
	}
	if len(c.rest) == 2 && c.rest[0] == "5" {
		if page := documentManual(c.rest[1]); page != "" {
			c.std.print(page)
			return exitOK
		}
	}
	if len(c.rest) > 1 {
		return c.std.misused("man: one command at a time")
	}
	v := find(c.rest[0])
	if v == nil {
		return c.std.misused("man: unknown command " + spec.Word(c.rest[0]) + nearVerb(c.rest[0]))
	}
	c.std.print(v.manual())
	return exitOK
}

func manual() string {
	var b strings.Builder
	b.WriteString(".TH SBX 1\n.SH NAME\nsbx \\- run a command under a SandboxSpec, and record what was enforced\n" +
		".SH SYNOPSIS\n.B sbx\n.I command\n[flags]\n.SH COMMANDS\n")
	verbs := table()
	for _, v := range verbs {
		b.WriteString(".TP\n.BR sbx\\-" + v.name + " (1)\n" + doc.Roff(v.short) + "\n")
	}
	_, exit := verbs[0].splitText()
	b.WriteString(".SH FILES\n.TP\n.I $XDG_STATE_HOME/sbx/runs/ID/effective.json\nthe record of a run, sbx\\-record(5)\n" +
		".TP\n.I .sbx/spec.yaml\na project's own spec, sbx\\-spec(5)\n" +
		".SH ENVIRONMENT\n.TP\n.B SBX_EFFECTIVE\nwhere sbx exec leaves the record, where \\-\\-effective does not say\n" +
		".SH EXIT STATUS\nOf sbx exec: " + doc.Roff(exit) + "\n.SH EXAMPLES\n.EX\n" + doc.Roff(verbs[0].example) + "\nsbx show last\n.EE\n" + seeAlso)
	return b.String()
}

const seeAlso = ".SH SEE ALSO\n.BR sbx (1),\n.BR sbx\\-exec (1),\n.BR sbx\\-spec (5),\n.BR sbx\\-record (5)\n"

// splitText splits the description of a command: its last paragraph is the exit status.
func (v *verb) splitText() (text, exit string) {
	text, exit, found := strings.Cut(v.text(), "\n\nExit status: ")
	if !found {
		return text, "0; 1 if it could not be done; 2 for a bad command line."
	}
	exit, rest, _ := strings.Cut(exit, "\n\n")
	if rest != "" {
		text += "\n\n" + rest
	}
	return text, exit
}

func (v *verb) manual() string {
	var b strings.Builder
	text, exit := v.splitText()
	b.WriteString(".TH SBX\\-" + strings.ToUpper(v.name) + " 1\n.SH NAME\nsbx\\-" + v.name + " \\- " + doc.Roff(v.short) +
		"\n.SH SYNOPSIS\n.B sbx " + v.name + "\n[flags] " + doc.Roff(v.args) + "\n.SH DESCRIPTION\n" +
		strings.ReplaceAll(doc.Roff(text), "\n\n", "\n.PP\n") + "\n.SH OPTIONS\n")
	for _, f := range v.flags {
		b.WriteString(".TP\n.B " + doc.Roff(f.usage()) + "\n" + doc.Roff(f.helpText()) + "\n")
	}
	b.WriteString(".SH EXIT STATUS\n" + doc.Roff(exit) + "\n.SH EXAMPLES\n.EX\n" + doc.Roff(v.example) + "\n.EE\n" + seeAlso)
	return b.String()
}
