package main

import (
	"strconv"
	"strings"
)

// completion prints a shell's completion script, made from the same table as the help.
func completion(args []string) int {
	switch strings.Join(args, " ") {
	case "bash":
		print(bashCompletion())
	case "zsh":
		print("#compdef sbx-broker\nautoload -U +X bashcompinit && bashcompinit\n" + bashCompletion())
	case "fish":
		print(fishCompletion())
	default:
		complain("completion: want bash, zsh or fish")
		return exitUsage
	}
	return exitOK
}

// waiting is shell code that prints the ids of the questions that wait, and nothing that a
// shell would split or expand.
const waiting = `(sbx-broker answer </dev/null 2>/dev/null | grep -oE '^[A-Za-z0-9-]+')`

// words returns a command's flags, and the words that a shell offers for each of its
// arguments.
func (v *verb) words() (flags, places []string) {
	list := strings.Fields(strings.NewReplacer("[", "", "]", "", "...", "").Replace(v.args))
	for i := 0; i < len(list); i++ {
		switch word := list[i]; {
		case strings.HasPrefix(word, "--"):
			flags = append(flags, word)
			i++ // what it takes
		case word == "ID":
			places = append(places, waiting)
		default:
			places = append(places, strings.ReplaceAll(word, "|", " "))
		}
	}
	return flags, places
}

// bashCompletion offers files wherever it has no words.
func bashCompletion() string {
	var b strings.Builder
	b.WriteString("_sbx_broker() {\n\tlocal cur=${2-${COMP_WORDS[COMP_CWORD]}} words=\n\tCOMPREPLY=()\n" +
		"\t[[ ${COMP_WORDS[COMP_CWORD-1]} == --* ]] && return\n\tcase \"$COMP_CWORD ${COMP_WORDS[1]}\" in\n\t1\\ *) words=\"")
	for _, v := range verbs {
		b.WriteString(v.name + " ")
	}
	b.WriteString("help version\" ;;\n")
	for i := range verbs {
		flags, places := verbs[i].words()
		for n, place := range places {
			b.WriteString("\t\"" + strconv.Itoa(n+2) + " " + verbs[i].name + "\") words=\"" + strings.Replace(place, "(", "$(", 1) + "\" ;;\n")
		}
		if flags != nil {
			b.WriteString("\t*\\ " + verbs[i].name + ") [[ $cur == -* ]] && words=\"" + strings.Join(flags, " ") + "\" ;;\n")
		}
	}
	b.WriteString("\tesac\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _sbx_broker sbx-broker\n")
	return b.String()
}

func fishCompletion() string {
	var b strings.Builder
	quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace
	for i := range verbs {
		v := &verbs[i]
		b.WriteString("complete -c sbx-broker -n __fish_use_subcommand -f -a " + v.name + " -d '" + quote(v.does) + "'\n")
		flags, places := v.words()
		at := "complete -c sbx-broker -n '__fish_seen_subcommand_from " + v.name + "' "
		for _, name := range flags {
			b.WriteString(at + "-r -l " + name[2:] + "\n")
		}
		if places != nil {
			b.WriteString(at + "-f -a '" + quote(strings.Join(places, " ")) + "'\n")
		}
	}
	return b.String()
}
