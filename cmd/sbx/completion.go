package main

import (
	"slices"
	"strings"

	"sbx/internal/reach"
	"sbx/spec"
	"sbx/spec/profile"
	"sbx/wrap/outer"
)

// runCompletion implements `sbx completion`. The scripts are made from the same table as
// the help.
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
	return c.std.misused("completion: want bash, zsh or fish")
}

// words returns what a shell offers after a flag: for some by the flag's name, for others
// the words of its argument.
func (f *flag) words() []string {
	switch f.name {
	case "allow":
		return reach.Sets()
	case "read":
		return spec.ReadSets()
	case "write":
		return spec.Presets()
	case "backend":
		return slices.DeleteFunc(append([]string{"native"}, outer.Wrappers()...), func(name string) bool { return name == "sbx" || name == "none" })
	case "wrapper":
		return append(outer.Wrappers(), "oci")
	case "profile":
		return profileNames()
	case "best-effort":
		var all []string
		for _, f := range spec.Fields() {
			all = append(all, string(f.Field))
		}
		return all
	}
	return alternatives(f.arg)
}

// alternatives returns the words of "on | off"; none if the argument is a placeholder.
func alternatives(arg string) (words []string) {
	for word := range strings.SplitSeq(arg, "|") {
		first, _, _ := strings.Cut(strings.Trim(word, " []"), " ")
		if first != "" && first == strings.ToLower(first) && strings.Contains(arg, "|") {
			words = append(words, first)
		}
	}
	return words
}

func profileNames() (names []string) {
	for _, row := range profile.Builtin().Rows {
		names = append(names, row.Name)
	}
	return names
}

// shellRuns is shell code that prints the ids of the recorded runs.
const shellRuns = `$(command ls "${XDG_STATE_HOME:-$HOME/.local/state}/sbx/runs" 2>/dev/null)`

// operands returns what a shell offers for the operands.
func (v *verb) operands() []string {
	switch v.name {
	case "show", "watch":
		return []string{"last", shellRuns}
	case "spec":
		return []string{"suggest", "last", shellRuns}
	case "man":
		return verbNames()
	case "profile":
		return append(alternatives(v.args), profileNames()...)
	}
	return alternatives(v.args)
}

func verbNames() (names []string) {
	for _, v := range table() {
		names = append(names, v.names()...)
	}
	return names
}

// before returns the words after which the operands come: help and man take the name of a
// command.
func (v *verb) before() []string {
	if v.name == "man" {
		return append(v.names(), "help")
	}
	return v.names()
}

// each returns a pattern for case in a shell: a word after any name of the command.
func (v *verb) each(more string) string {
	var all []string
	for _, name := range v.names() {
		all = append(all, `"`+name+more+`"`)
	}
	return strings.Join(all, "|")
}

// bashCompletion takes the word and the one before it from the arguments if bash passes
// them: in COMP_WORDS the "@" of a preset ends a word.
func bashCompletion() string {
	var b strings.Builder
	b.WriteString("_sbx() {\n\tlocal cur=${2-${COMP_WORDS[COMP_CWORD]}} prev=${COMP_WORDS[COMP_CWORD-1]} i words= values=\n" +
		"\tfor ((i = 2; i < COMP_CWORD; i++)); do\n\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n" +
		"\t\t\tCOMPREPLY=($(compgen -c -f -- \"$cur\")); return\n\t\tfi\n\tdone\n" +
		"\t[[ $prev == @ ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n" +
		"\tif ((COMP_CWORD == 1)); then\n\t\twords=\"" + strings.Join(verbNames(), " ") + " dispatch help version\"\n" +
		"\telse\n\t\tcase \"${COMP_WORDS[1]} $prev\" in\n")
	for _, v := range table() {
		for i := range v.flags {
			if words := v.flags[i].words(); len(words) > 0 {
				b.WriteString("\t\t" + v.each(" "+dashed(v.flags[i].name)) + ") values=\"" + strings.Join(words, " ") + "\" ;;\n")
			}
		}
	}
	b.WriteString("\t\tesac\n\t\tif [[ -n $values ]]; then\n\t\t\tCOMPREPLY=($(compgen -W \"$values\" -- \"$cur\")); return\n\t\tfi\n\t\tcase ${COMP_WORDS[1]} in\n")
	for _, v := range table() {
		b.WriteString("\t\t" + strings.Join(v.before(), "|") + ") words=\"")
		for i := range v.flags {
			b.WriteString(dashed(v.flags[i].name) + " ")
		}
		b.WriteString("\" values=\"" + strings.Join(v.operands(), " ") + "\" ;;\n")
	}
	b.WriteString("\t\tesac\n\tfi\n\tif [[ $cur == -* || $COMP_CWORD == 1 ]]; then\n" +
		"\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n\telse\n\t\tCOMPREPLY=($(compgen -f -W \"$values\" -- \"$cur\"))\n\tfi\n}\n" +
		"complete -o filenames -F _sbx sbx\n")
	return b.String()
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// fishRuns is shellRuns for fish, which has no default values of variables.
const fishRuns = `(command ls (set -q XDG_STATE_HOME; and echo $XDG_STATE_HOME; or echo $HOME/.local/state)/sbx/runs 2>/dev/null)`

func fishCompletion() string {
	var b strings.Builder
	b.WriteString("complete -c sbx -n __fish_use_subcommand -a dispatch -d 'send commands off, and keep a ledger of them'\n")
	for _, v := range table() {
		for _, name := range v.names() {
			b.WriteString("complete -c sbx -n __fish_use_subcommand -a " + name + " -d '" + fishQuote(v.short) + "'\n")
		}
		if words := v.operands(); len(words) > 0 {
			list := strings.Replace(strings.Join(words, " "), shellRuns, fishRuns, 1)
			b.WriteString("complete -c sbx -n '__fish_seen_subcommand_from " + strings.Join(v.before(), " ") + "' -a '" + fishQuote(list) + "'\n")
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
			if words := f.words(); len(words) > 0 {
				b.WriteString(" -f -a '" + fishQuote(strings.Join(words, " ")) + "'")
			}
			b.WriteString(" -d '" + fishQuote(f.helpText()) + "'\n")
		}
	}
	return b.String()
}

// fishQuote escapes text for single quotes in fish.
func fishQuote(s string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)
}
