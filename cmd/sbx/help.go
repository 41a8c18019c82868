package main

import (
	"strings"

	"sbx/internal/doc"
)

// overview is the help of the whole program.
func overview() string {
	var b strings.Builder
	b.WriteString("usage: sbx COMMAND [flags]\n\n")
	for _, v := range table() {
		b.WriteString("  " + pad(v.name, 12) + v.short)
		if v.also != "" {
			b.WriteString("; also: " + v.also)
		}
		b.WriteString("\n")
	}
	b.WriteString("\nRun `sbx help COMMAND` for details, `sbx dispatch --help` for dispatches. Example:\n\n  sbx exec --spec spec.json -- make test\n")
	return b.String()
}

// help prints the help of the program or of a command.
func help(args, environ []string, std streams) int {
	if len(args) == 0 {
		std.print(overview())
		return exitOK
	}
	v := find(args[0])
	if v == nil { // it may be a program of its own, such as sbx-dispatch
		return execProgram(args[0], []string{"--help"}, environ, std)
	}
	std.print(v.help())
	return exitOK
}

func (v *verb) help() string {
	var b strings.Builder
	b.WriteString("usage: sbx " + v.name)
	if len(v.flags) > 0 {
		b.WriteString(" [flags]")
	}
	if v.args != "" {
		b.WriteString(" " + v.args)
	}
	b.WriteString("\n\n" + v.text() + "\n")
	if len(v.flags) > 0 {
		b.WriteString("\n")
	}
	for _, f := range v.flags {
		b.WriteString("  " + pad(f.usage(), 30) + f.helpText() + "\n")
	}
	b.WriteString("\nExample:\n\n  " + v.example + "\n")
	return b.String()
}

// text returns the description of a command for the help and the manual page.
func (v *verb) text() string {
	if v.also == "" {
		return v.long
	}
	return v.long + "\n\nsbx " + v.also + " is another name for it."
}

// usage returns a flag as the help writes it.
func (f *flag) usage() string {
	s := dashed(f.name)
	if f.arg != "" {
		s += " " + f.arg
	}
	return s
}

// helpText returns the help on a flag, with the field of the spec that it sets.
func (f *flag) helpText() string {
	if f.field == "" {
		return f.help
	}
	return f.help + " (" + string(f.field) + " of the last spec)"
}

func pad(s string, n int) string { return doc.Pad(s, n) }
