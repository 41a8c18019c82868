package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"sbx/internal/doc"
)

// manual implements `sbx dispatch man`. It makes the page from the same table as the help.
func (p *program) manual(*cli.Context) error {
	var b strings.Builder
	b.WriteString(".TH SBX\\-DISPATCH 1\n.SH NAME\nsbx\\-dispatch \\- send commands off under a sandbox, and keep a ledger of them\n" +
		".SH SYNOPSIS\n.B sbx dispatch\n.I command\n[flags]\n.SH COMMANDS\n")
	for _, v := range p.verbs() {
		b.WriteString(".SS " + doc.Roff("sbx dispatch "+v.Name+" "+v.ArgsUsage) + "\n" + doc.Roff(v.Usage) + "\n")
		if v.Description != "" {
			b.WriteString(".PP\n" + doc.Roff(v.Description) + "\n")
		}
		for _, f := range v.VisibleFlags() {
			name, help := cli.FlagNamePrefixer(f.Names(), ""), ""
			if d, ok := f.(cli.DocGenerationFlag); ok {
				help = strings.ReplaceAll(d.GetUsage(), "`", "")
			}
			b.WriteString(".TP\n.B " + doc.Roff(strings.TrimSpace(name)) + "\n" + doc.Roff(help) + "\n")
		}
	}
	b.WriteString(".SH EXIT STATUS\n0; 1 where there is no such dispatch, or one that was waited for failed; 2 for a bad\n" +
		"command line; 125 where it could not be done. The driver's is its command's.\n" +
		".SH EXAMPLES\n.EX\nsbx dispatch spawn \\-\\-sandbox\\-spec=\\(aq{\"access_mode\": \"read\\-only\"}\\(aq \\-\\- make test\n.EE\n")
	fmt.Print(b.String())
	return nil
}
