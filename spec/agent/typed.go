package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

// option is a flag of an agent that means something to sbx.
type option struct {
	names []string
	means meaning
	is    string // the value that the meaning has; "" for a flag without one, or for any
	list  bool   // several words, or one with commas, are its value
	value bool   // a word or "=" follows
}

// meaning is what an option says.
type meaning uint8

const (
	isBypass   meaning = iota + 1 // every permission check off
	isMode                        // a permission mode, or codex's sandbox
	isTools                       // an allow-list of tools
	isStream                      // what is written on stdout
	isSettings                    // a file, or JSON, that says of permissions what flags do
	isServers                     // the same of servers whose tools it gets
	isConfig                      // key=value of its configuration
	isFeature                     // a feature that is switched
	isStart                       // the directory that it starts in
	isProfile                     // a named part of its configuration
)

// Typed is what a caller's own arguments say.
type Typed struct {
	Bypass string             // the flag that turns the permission checks off; "" for none
	Mode   string             // the permission mode, or codex's sandbox
	ModeAt string             // the words that say so
	Tools  []string           // of an allow-list
	Only   spec.Opt[[]string] // a list beside which there are no tools
	Stream bool               // a JSON stream is written on stdout
	// Servers are those of MCP that its arguments bring.
	Servers  []string
	Switches map[string]string // of codex's configuration
	// Dir is the directory that it is to start in, and Profile the part of its
	// configuration; "" where they do not say.
	Dir, Profile string

	settings, serverLists []string // values that name them, for WithFiles
}

// parser is who reads an agent's command line: each has spellings of its own.
type parser uint8

const (
	commander parser = iota + 1 // of node; claude's
	clap                        // of Rust; codex's
	yargs                       // of node; gemini's
)

// ReadArgs tells what the caller's own arguments to an agent say. What would ask
// for more counts behind "--" too: an option may have taken that for its value.
func ReadArgs(a spec.Agent, args []string) Typed {
	ad := find(a)
	var t Typed
	if ad == nil {
		return t
	}
	behind := false // what stands behind "--" is the agent's prompt, or meant to be
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
			t.Tools = append(t.Tools, tools1(value)...)
			for o.list && !given && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && looksTool(args[i+1]) {
				i++
				t.Tools = append(t.Tools, tools1(args[i])...)
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

// option is the option that a word is, as the agent's own parser reads it, and
// the value that is part of the word; nil for none.
func (ad *adapter) option(word string) (o *option, name, value string, given bool) {
	name, value, given = strings.Cut(word, "=")
	single := len(name) > 2 && name[0] == '-' && name[1] != '-'
	switch ad.parser {
	case clap:
		if single { // -sread-only
			name, value, given = word[:2], strings.TrimPrefix(word[2:], "="), true
		}
	case yargs:
		if single { // -yp: each letter is an option
			if strings.IndexByte(name, 'y') > 0 {
				name = "-y"
			} else {
				name = "-" + name[len(name)-1:]
			}
		} else if strings.HasPrefix(name, "--") { // --approvalMode
			name = dashes(name)
		}
	}
	at := slices.IndexFunc(ad.options, func(o option) bool { return slices.Contains(o.names, name) })
	if at < 0 {
		return nil, "", "", false
	}
	return &ad.options[at], name, value, given
}

// dashes is a flag with capitals as one with dashes.
func dashes(flag string) string {
	var b strings.Builder
	for i := range len(flag) {
		if c := flag[i]; 'A' <= c && c <= 'Z' {
			b.WriteByte('-')
			b.WriteByte(c - 'A' + 'a')
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// tools1 are the tools of one word: they may be divided by commas, but not
// within parentheses.
func tools1(word string) []string {
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

// looksTool tells a tool's pattern from a prompt.
func looksTool(word string) bool {
	for _, t := range tools1(word) {
		if _, ok := spec.ParseTool(t); !ok {
			return false
		}
	}
	return word != ""
}

// Under is what is asked of an agent, no more than its caller's own arguments ask for
// where sbx's flags would take their place.
func (t Typed) Under(a spec.Agent, ask Ask) Ask {
	if a == spec.Gemini && t.Mode == "plan" && (ask.Allowed.Set || len(ask.Denied) > 0 || ask.Mode != 0) {
		ask.Mode = spec.PlanOnly
	}
	ask.Only = t.Only
	return ask
}

// Escalations are the caller's own flags that ask for more than the spec lets
// the agent have.
func Escalations(a spec.Agent, typed Typed, ask Ask) spec.Problems {
	ad := find(a)
	if ad == nil {
		return nil
	}
	var all spec.Problems
	refuse := func(f spec.Field, on, why string) {
		all = append(all, &spec.Problem{Field: f, On: on, Do: "give " + a.String() + " " + on, Why: why, Help: "leave the flag out: sbx gives " + a.String() + " what the spec says"})
	}
	tools := spec.Field("tools_allowed")
	if !ask.Allowed.Set && len(ask.Denied) > 0 {
		tools = "tools_denied"
	}
	limited := ask.Allowed.Set || len(ask.Denied) > 0
	patterns := a == spec.Claude && ask.asksForServers() || slices.ContainsFunc(append(slices.Clone(ask.Allowed.Value), ask.Denied...), func(t string) bool { return strings.Contains(t, "(") })
	switch {
	case typed.Bypass == "", ad.replaced && ask.Inside:
	case ad.replaced:
		flags, _, _ := Flags(a, ask)
		if ours := ReadArgs(a, flags).Mode; ours != "" && !slices.Contains(ad.bypassModes, ours) {
			refuse(tools, typed.Bypass, "what the spec says of its tools is kept by its sandbox "+ours)
		}
	case limited && (patterns || !ad.enforcesTools):
		why := "it turns off the checks by which the agent keeps to its tools"
		if a == spec.Claude && ask.Servers != nil && ask.Servers.Unsure != "" {
			why += ", and its MCP servers are not known: " + ask.Servers.Unsure
		}
		refuse(tools, typed.Bypass, why)
	case ask.Access == spec.ReadOnly && !slices.Contains(ad.bypassModes, typed.Mode):
		refuse("access_mode", typed.Bypass, "access_mode is read-only")
	}
	for _, t := range typed.Tools {
		p, ok := spec.ParseTool(t)
		covered := !ask.Allowed.Set || slices.ContainsFunc(ask.Allowed.Value, func(has string) bool {
			h, fine := spec.ParseTool(has)
			return fine && ok && h.Covers(p)
		})
		denied := slices.ContainsFunc(ask.Denied, func(has string) bool {
			h, fine := spec.ParseTool(has)
			return fine && ok && h.Covers(p)
		})
		if !covered || denied {
			refuse(tools, t, "the spec does not let the agent have that tool")
		}
	}
	for _, s := range typed.Servers {
		if ask.Allowed.Set && !slices.ContainsFunc(ask.Allowed.Value, func(has string) bool {
			h, fine := spec.ParseTool(has)
			return fine && (strings.HasPrefix(h.Name, "mcp__"+s+"__") || h.Names("mcp__"+s+"__x"))
		}) {
			refuse(tools, "the MCP server "+s, "the spec lets the agent have none of its tools")
		}
	}
	if len(typed.Switches) > 0 {
		flags, _, _ := Flags(a, ask)
		own := switches(flags)
		for _, key := range keys(own) {
			for k := key; k != ""; k = k[:max(strings.LastIndexByte(k, '.'), 0)] { // and the tables it stands in
				if theirs, set := typed.Switches[k]; set && theirs != own[key] {
					refuse(tools, k+"="+theirs, "the spec makes "+key+" "+own[key])
					break
				}
			}
		}
	}
	if typed.Mode != "" && ask.Access == spec.ReadOnly && slices.Contains(ad.writingModes, typed.Mode) {
		refuse("access_mode", typed.ModeAt, "access_mode is read-only")
	}
	return all
}
