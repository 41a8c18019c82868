package oci

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"sbx/internal/oci/front"
	"sbx/internal/sys"
)

// Line is a parsed command line of an OCI runtime.
type Line struct {
	Own    Options
	Global []string // flags before the verb
	Verb   string   // "" for none
	Flags  []Flag   // of the verb
	Rest   []string // the arguments: the container's id first
}

// Options holds sbx-oci's own flags.
type Options struct {
	Runtime string   // the runtime proper, a name or a path
	Policy  string   // the node's directory of specs
	Specs   []string // further spec files, which narrow those of the directory
	State   string   // directory of records and per-container state; "" for the defaults
	Class   string   // the last part of the program's name: sbx-oci-CLASS
}

// Flag is one flag of a command line.
type Flag struct {
	Name  string // without dashes
	Value string
	Words []string // as written: one word, or two with a separate value
}

// PolicyDir is the default of --sbx-policy.
const PolicyDir = "/etc/sbx-oci"

// The flags of runc and crun, before and after the verb, whose value may be a separate word.
var (
	globalValues = front.Valued[:]
	verbValues   = map[string][]string{
		"create":  {"bundle", "b", "config", "f", "console-socket", "pid-file", "preserve-fds"},
		"run":     {"bundle", "b", "config", "f", "console-socket", "pid-file", "preserve-fds"},
		"restore": {"bundle", "b", "console-socket", "pid-file", "image-path", "work-path", "manage-cgroups-mode", "empty-ns", "lsm-profile", "lsm-mount-context"},
		"exec": {"process", "p", "console-socket", "pid-file", "preserve-fds", "cwd", "user", "u", "env", "e", "additional-gids", "g", "apparmor",
			"process-label", "cap", "c", "cgroup"},
	}
)

// Parse parses args, which begin with the program's name; problem is "" on success.
func Parse(args, environ []string) (l Line, problem string) {
	l.Own = Options{Policy: PolicyDir, Runtime: sys.Variable(environ, "SBX_OCI_RUNTIME")}
	_, l.Own.Class, _ = strings.Cut(path.Base(args[0]), "sbx-oci-")
	args = args[1:]
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		var f Flag
		f, args = flag(args, func(name string) bool { return slices.Contains(globalValues, name) || strings.HasPrefix(name, "sbx-") })
		switch f.Name {
		case "sbx-runtime":
			l.Own.Runtime = f.Value
		case "sbx-policy":
			l.Own.Policy = f.Value
		case "sbx-state":
			l.Own.State = f.Value
		case "sbx-spec":
			l.Own.Specs = append(l.Own.Specs, f.Value)
		default:
			if strings.HasPrefix(f.Name, "sbx-") {
				return l, "no flag --" + f.Name + "; there are --sbx-runtime, --sbx-policy, --sbx-spec and --sbx-state"
			}
			l.Global = append(l.Global, f.Words...)
			continue
		}
		if f.Value == "" {
			return l, "--" + f.Name + " wants a value"
		}
	}
	// An unknown flag may have a separate value, which must not be taken for the verb.
	if len(args) > 1 && len(l.Global) > 0 && verbValues[args[0]] == nil && verbValues[args[1]] != nil && !slices.Contains(otherVerbs, args[0]) {
		l.Global, args = append(l.Global, args[0]), args[1:]
	}
	if len(args) == 0 {
		return l, ""
	}
	l.Verb, args = args[0], args[1:]
	return l, l.verb(args)
}

// verb parses the arguments of the verb. Both runtimes also accept flags after the id, except those
// of exec, where the command's own flags follow.
func (l *Line) verb(args []string) (problem string) {
	values := verbValues[l.Verb]
	for len(args) > 0 && args[0] != "--" {
		if !strings.HasPrefix(args[0], "-") || args[0] == "-" {
			if values == nil || l.Verb == "exec" {
				break
			}
			l.Rest, args = append(l.Rest, args[0]), args[1:]
			continue
		}
		if why := l.ambiguous(args[0]); why != "" {
			return why
		}
		var f Flag
		f, args = flag(args, func(name string) bool { return slices.Contains(values, name) })
		l.Flags = append(l.Flags, f)
	}
	if l.Rest = append(l.Rest, args...); l.Verb != "exec" && values != nil && len(l.arguments()) > 1 {
		return l.Verb + " wants one container's id, and no more: " + strings.Join(l.arguments(), " ")
	}
	return ""
}

// ambiguous returns the reason why a flag of a verb that takes a bundle or a process is rejected:
// the runtime could read the word as another flag than sbx-oci does, and so use a document other
// than the edited one.
func (l *Line) ambiguous(word string) string {
	values := verbValues[l.Verb]
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	switch {
	case values == nil:
	case word[1] != '-' && len(name) > 1: // runc reads it as a long flag, crun as several short ones
		return "write " + word + " as a long flag, or each short one by itself"
	case !slices.Contains(values, name):
		for _, known := range append(switches, values...) { // crun accepts abbreviations
			if len(name) > 1 && name != known && strings.HasPrefix(known, name) {
				return "write " + word + " out: --" + known
			}
		}
	}
	return ""
}

// switches are the flags of these verbs without a value that sbx-oci looks at.
var switches = []string{"detach"}

// otherVerbs are the verbs of runc and crun whose flags sbx-oci does not parse.
var otherVerbs = []string{"start", "delete", "state", "kill", "list", "ps", "pause", "resume", "update", "events", "spec", "checkpoint", "features", "mounts", "help"}

// flag parses the first flag of args; valued reports whether a flag takes a separate value.
func flag(args []string, valued func(string) bool) (f Flag, rest []string) {
	name, value, has := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
	f = Flag{Name: name, Value: value, Words: args[:1]}
	if !has && valued(name) && len(args) > 1 {
		f.Value, f.Words = args[1], args[:2]
	}
	return f, args[len(f.Words):]
}

// Value returns the value of the verb's flag with any of these names, or "". The last one
// given wins.
func (l *Line) Value(names ...string) (value string) {
	for _, f := range l.Flags {
		if slices.Contains(names, f.Name) {
			value = f.Value
		}
	}
	return value
}

// Root returns the runtime's state directory (--root); "" for its default.
func (l *Line) Root() string { return l.global("root") }

// global returns the value of a flag before the verb.
func (l *Line) global(name string) (value string) {
	for args := l.Global; len(args) > 0; {
		var f Flag
		f, args = flag(args, func(n string) bool { return slices.Contains(globalValues, n) })
		if f.Name == name {
			value = f.Value
		}
	}
	return value
}

// ID returns the container's id.
func (l *Line) ID() string {
	if a := l.arguments(); len(a) > 0 {
		return a[0]
	}
	return ""
}

// arguments returns the words after the flags, without the "--" that may precede them.
func (l *Line) arguments() []string {
	if i := slices.Index(l.Rest, "--"); i >= 0 && i < 2 {
		return slices.Delete(slices.Clone(l.Rest), i, i+1)
	}
	return l.Rest
}

// Words returns the arguments for the runtime proper, without its name.
func (l *Line) Words() []string {
	words := slices.Clone(l.Global)
	if l.Verb != "" {
		words = append(words, l.Verb)
	}
	for _, f := range l.Flags {
		words = append(words, f.Words...)
	}
	return append(words, l.Rest...)
}

// Kept returns the number of the first descriptor that the runtime does not pass on.
func (l *Line) Kept(environ []string) int {
	n, _ := strconv.Atoi(l.Value("preserve-fds"))
	listen, _ := strconv.Atoi(sys.Variable(environ, "LISTEN_FDS")) // sd_listen_fds(3)
	return 3 + max(n, 0) + max(listen, 0)
}

// With returns the line with all flags of these names replaced by one, "--names[0] value".
func (l Line) With(value string, names ...string) Line {
	l.Flags = slices.DeleteFunc(slices.Clone(l.Flags), func(f Flag) bool { return slices.Contains(names, f.Name) })
	l.Flags = append([]Flag{{Name: names[0], Value: value, Words: []string{"--" + names[0], value}}}, l.Flags...)
	return l
}
