package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

// Typed is what the caller's own arguments to an agent ask for.
type Typed struct {
	Bypass string             // the flag that turns the permission checks off; "" for none
	Mode   string             // the permission mode, or codex's sandbox mode
	ModeAt string             // the arguments that set Mode
	Tools  []string           // the items of an allow-list
	Only   spec.Opt[[]string] // the items of a list that leaves no other tools
	Stream bool               // the agent writes a JSON stream to stdout
	// Servers are the MCP servers that the arguments add.
	Servers  []string
	Switches map[string]string // settings of codex's configuration
	// Dir is the directory to start in, and Profile the named part of the configuration; ""
	// if the arguments name none.
	Dir, Profile string

	settings, serverLists []string // the values of options isSettings and isServers, for WithFiles
}

// ReadArgs reads the caller's own arguments to an agent. An argument that asks for more counts
// after "--" too: the agent may take "--" for the value of an option.
func ReadArgs(a spec.Agent, args []string) Typed {
	ad := find(a)
	var t Typed
	behind := false // after "--": these words are the agent's prompt, or are meant to be
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			behind = true
			continue
		}
		o, word, value, given := ad.option(args[i])
		if o == nil {
			continue
		}
		if o.value && !given && i+1 < len(args) {
			i++
			value = args[i]
		}
		switch {
		case o.means == isBypass:
			t.Bypass = word
		case o.means == isMode:
			if slices.Contains(ad.bypassModes, value) {
				t.Bypass = word + " " + value
			}
			if behind {
				break
			}
			if t.Mode, t.ModeAt = value, word+" "+value; !o.value {
				t.Mode, t.ModeAt = o.is, word
			}
		case o.means == isTools:
			from := len(t.Tools)
			t.Tools = append(t.Tools, toolsIn(value)...)
			for o.list && !given && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && looksTool(args[i+1]) {
				i++
				t.Tools = append(t.Tools, toolsIn(args[i])...)
			}
			if o.is == "only" && !behind {
				t.Only = spec.Some(append(t.Only.Value, t.Tools[from:]...))
			}
		case o.means == isSettings && !behind:
			t.settings = append(t.settings, value)
		case o.means == isServers && !behind:
			t.serverLists = append(t.serverLists, value)
			for !given && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				i++
				t.serverLists = append(t.serverLists, args[i])
			}
		case o.means == isStart:
			t.Dir = value
		case o.means == isProfile:
			t.Profile = value
		case o.means == isStream && !behind:
			t.Stream = t.Stream || o.is == "" || value == o.is
		}
	}
	if ad.streams != nil && !ad.streams(args) {
		t.Stream = false
	}
	if ad == &codex {
		t.Switches = switches(args)
		t.Servers = switchedServers(t.Switches)
	}
	return t
}

// toolsIn returns the tools that one argument lists, separated by commas or blanks outside of
// parentheses.
func toolsIn(word string) []string {
	var all []string
	depth, from := 0, 0
	for i := 0; i <= len(word); i++ {
		if i < len(word) {
			switch word[i] {
			case '(':
				depth++
			case ')':
				depth--
			}
			if word[i] != ',' && word[i] != ' ' || depth > 0 {
				continue
			}
		}
		if i > from {
			all = append(all, word[from:i])
		}
		from = i + 1
	}
	return all
}

// looksTool reports whether word is a list of tools and not a prompt.
func looksTool(word string) bool {
	for _, t := range toolsIn(word) {
		if _, ok := spec.ParseTool(t); !ok {
			return false
		}
	}
	return word != ""
}
