package main

import (
	"strings"

	"sbx/spec"
)

// runMan is `sbx man`: the manual pages, from the same table as the help.
func runMan(c *call) int {
	if len(c.rest) == 0 {
		c.std.print(manual())
		return exitOK
	}
	if len(c.rest) > 1 {
		c.std.say("man: one verb at a time")
		return exitUsage
	}
	v := find(c.rest[0])
	if v == nil {
		c.std.say("man: no verb " + spec.Word(c.rest[0]) + nearVerb(c.rest[0]))
		return exitUsage
	}
	c.std.print(v.manual())
	return exitOK
}

// roff escapes text for man(7).
func roff(s string) string {
	s = strings.ReplaceAll(s, `\`, `\e`)
	s = strings.ReplaceAll(s, "-", `\-`)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

func manual() string {
	var b strings.Builder
	b.WriteString(".TH SBX 1\n.SH NAME\nsbx \\- run a command under a SandboxSpec, and tell what held\n" +
		".SH SYNOPSIS\n.B sbx\n.I verb\n[flags]\n.SH VERBS\n")
	for _, v := range table() {
		b.WriteString(".TP\n.BR sbx\\-" + v.name + " (1)\n" + roff(v.short) + "\n")
	}
	b.WriteString(".SH FILES\n.TP\n.I $XDG_STATE_HOME/sbx/runs/ID/effective.json\nthe record of a run\n" +
		".SH ENVIRONMENT\n.TP\n.B SBX_EFFECTIVE\nwhere sbx exec leaves the record, where \\-\\-effective does not say\n")
	return b.String()
}

func (v *verb) manual() string {
	var b strings.Builder
	b.WriteString(".TH SBX\\-" + strings.ToUpper(v.name) + " 1\n.SH NAME\nsbx\\-" + v.name + " \\- " + roff(v.short) +
		"\n.SH SYNOPSIS\n.B sbx " + v.name + "\n[flags] " + roff(v.args) + "\n.SH DESCRIPTION\n" +
		strings.ReplaceAll(roff(v.text()), "\n\n", "\n.PP\n") + "\n.SH OPTIONS\n")
	for _, f := range v.flags {
		b.WriteString(".TP\n.B " + roff(f.usage()) + "\n" + roff(f.says()) + "\n")
	}
	b.WriteString(".SH EXAMPLE\n.EX\n" + roff(v.example) + "\n.EE\n")
	return b.String()
}
