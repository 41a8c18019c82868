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
	isBypass meaning = iota + 1 // every permission check off
	isMode                      // a permission mode, or codex's sandbox
	isTools                     // an allow-list of tools
	isStream                    // what is written on stdout
)

// Typed is what a caller's own arguments say.
type Typed struct {
	Bypass string   // the flag that turns the permission checks off; "" for none
	Mode   string   // the permission mode, or codex's sandbox
	ModeAt string   // the flag that says so
	Tools  []string // of an allow-list
	Stream bool     // a JSON stream is written on stdout
}

// ReadArgs tells what the caller's own arguments to an agent say.
func ReadArgs(a spec.Agent, args []string) Typed {
	ad := find(a)
	var t Typed
	if ad == nil {
		return t
	}
	for i := 0; i < len(args); i++ {
		word, value, given := strings.Cut(args[i], "=")
		if word == "--" {
			break
		}
		at := slices.IndexFunc(ad.options, func(o option) bool { return slices.Contains(o.names, word) })
		if at < 0 {
			continue
		}
		o := &ad.options[at]
		if o.value && !given && i+1 < len(args) {
			i++
			value = args[i]
		}
		switch o.means {
		case isBypass:
			t.Bypass = word
		case isMode:
			if t.Mode, t.ModeAt = value, word; !o.value {
				t.Mode = o.is
			}
			if slices.Contains(ad.bypassModes, value) {
				t.Bypass = word + " " + value
			}
		case isTools:
			t.Tools = append(t.Tools, tools1(value)...)
			for o.list && !given && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && looksTool(args[i+1]) {
				i++
				t.Tools = append(t.Tools, tools1(args[i])...)
			}
		case isStream:
			t.Stream = t.Stream || o.is == "" || value == o.is
		}
	}
	if ad.streams != nil && !ad.streams(args) {
		t.Stream = false
	}
	return t
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
	limited := ask.Allowed.Set || len(ask.Denied) > 0
	patterns := slices.ContainsFunc(append(slices.Clone(ask.Allowed.Value), ask.Denied...), func(t string) bool { return strings.Contains(t, "(") })
	switch {
	case typed.Bypass == "", ad.replaced:
	case limited && (patterns || !ad.enforcesTools):
		refuse("tools_allowed", typed.Bypass, "it turns off the checks by which the agent keeps to its tools")
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
			refuse("tools_allowed", t, "the spec does not let the agent have that tool")
		}
	}
	if typed.Mode != "" && ask.Access == spec.ReadOnly && slices.Contains(ad.writingModes, typed.Mode) {
		refuse("access_mode", typed.ModeAt+" "+typed.Mode, "access_mode is read-only")
	}
	return all
}
