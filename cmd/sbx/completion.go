package main

import "strings"

// runCompletion is `sbx completion`. The scripts are made from the same table
// as the help.
func runCompletion(c *call) int {
	if len(c.rest) == 1 {
		switch c.rest[0] {
		case "bash":
			c.std.print(bashCompletion())
			return exitOK
		case "zsh":
			c.std.print("#compdef sbx\nautoload -U +X bashcompinit && bashcompinit\n" + bashCompletion())
			return exitOK
		case "fish":
			c.std.print(fishCompletion())
			return exitOK
		}
	}
	c.std.say("completion: want bash, zsh or fish")
	return exitUsage
}

func bashCompletion() string {
	var b strings.Builder
	b.WriteString("_sbx() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} i words=\n" +
		"\tfor ((i = 2; i < COMP_CWORD; i++)); do\n\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n" +
		"\t\t\tCOMPREPLY=($(compgen -c -f -- \"$cur\")); return\n\t\tfi\n\tdone\n" +
		"\tif ((COMP_CWORD == 1)); then\n\t\twords=\"")
	for _, v := range table() {
		b.WriteString(strings.Join(v.names(), " ") + " ")
	}
	b.WriteString("dispatch help version\"\n\telse\n\t\tcase ${COMP_WORDS[1]} in\n")
	for _, v := range table() {
		b.WriteString("\t\t" + strings.Join(v.names(), "|") + ") words=\"")
		for i := range v.flags {
			b.WriteString(dashed(v.flags[i].name) + " ")
		}
		b.WriteString("\" ;;\n")
	}
	b.WriteString("\t\tesac\n\tfi\n\tif [[ $cur == -* || $COMP_CWORD == 1 ]]; then\n" +
		"\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n\telse\n\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n\tfi\n}\n" +
		"complete -o filenames -F _sbx sbx\n")
	return b.String()
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func fishCompletion() string {
	var b strings.Builder
	b.WriteString("complete -c sbx -n __fish_use_subcommand -a dispatch -d 'send commands off, and keep a ledger of them'\n")
	for _, v := range table() {
		for _, name := range v.names() {
			b.WriteString("complete -c sbx -n __fish_use_subcommand -a " + name + " -d '" + fishQuote(v.short) + "'\n")
		}
		for _, f := range v.flags {
			short := "-l "
			if len(f.name) == 1 {
				short = "-s "
			}
			b.WriteString("complete -c sbx -n '__fish_seen_subcommand_from " + strings.Join(v.names(), " ") + "' " + short + f.name)
			if f.arg != "" {
				b.WriteString(" -r")
			}
			b.WriteString(" -d '" + fishQuote(f.says()) + "'\n")
		}
	}
	return b.String()
}

// fishQuote is text as fish reads it between single quotes.
func fishQuote(s string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)
}
