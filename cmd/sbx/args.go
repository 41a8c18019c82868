package main

import (
	"strings"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/spec"
	"sbx/spec/agent"
	"sbx/wrap"
	"sbx/wrap/host"
)

// flag is an option of a verb.
type flag struct {
	name string // without the dashes
	arg  string // the name of its argument; "" for none
	many bool   // it may be repeated
	some bool   // an empty argument, as of a variable that is not set, would be taken for none
	help string

	field spec.Field // of the asked document, to which the argument is added; "" for none
}

// verb is a word of the command line.
type verb struct {
	name    string
	also    string // another name for the same; "" for none
	args    string // what follows the flags
	short   string // one line
	long    string // for the help and the man page
	example string
	flags   []flag
	run     func(*call) int
}

// typed is a command line as it was typed: a verb's flags and operands, and what the
// caller gave beside them.
type typed struct {
	*verb
	values  map[string][]string
	given   []given // every flag with a value, in order
	rest    []string
	std     streams
	environ []string
	homeDir spec.Opt[string] // once home was asked for
	// startDir is where the command is to start, if that is not the current directory.
	startDir string
}

// agentCommand is the command with the agent that it is.
type agentCommand struct {
	typed
	agent    agent.Command  // which the command is
	confined agent.Confined // what its own sandbox was to keep
	unproven []string       // what to say where it is none though its name says so
	named    bool           // it is one by a document's word alone
}

// documentSet is the documents that hold for the command, and what their readers say.
type documentSet struct {
	agentCommand
	// mounting tells that the last document is the directories that a caller of wrap names
	// itself: of the host's /tmp and its like it may show some.
	mounting bool
	names    host.Finder // of filesystem.hide
	// learning tells that what the command writes is to be learned.
	learning bool
	// readStdin tells that a spec came from stdin.
	readStdin bool
	mode      spec.PermissionMode // of the profile, for the agent's command line
	chosen    audit.Profile       // the profile that holds
	made      []string            // directories that a profile writes and that were made
	project   *projectSpec        // the project's own; nil where it is not used
	warnings  []spec.Warning      // of the documents' readers
	lost      []wrap.Enforcement  // what a document asks in a way that is no field
}

// call is a verb that is called. What it does by its line, its agent or its documents
// alone is a method of those.
type call struct{ documentSet }

// given is a flag as it stands on the command line.
type given struct{ name, value string }

func (c *typed) has(name string) bool { return len(c.values[name]) > 0 }

// value is a flag's last value.
func (c *typed) value(name string) string {
	if v := c.values[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// parse reads a verb's flags: up to "--", and for a verb that takes a command up
// to the first word that is none.
func (v *verb) parse(args []string) (*call, error) {
	c := &call{}
	c.verb, c.values = v, map[string][]string{}
	for len(args) > 0 {
		word := args[0]
		if word == "--" {
			if args = args[1:]; v.args == "" && len(args) > 0 {
				return nil, v.extra(args[0])
			}
			c.rest = append(c.rest, args...)
			return c, nil
		}
		if len(word) < 2 || word[0] != '-' || v.counts(word) {
			if v.command() {
				c.rest = args
				return c, nil
			}
			if v.args == "" {
				return nil, v.extra(word)
			}
			c.rest, args = append(c.rest, word), args[1:]
			continue
		}
		args = args[1:]
		name, value, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
		f := v.flag(name)
		if f == nil {
			return nil, usageError(v.name + ": no flag " + spec.Word(word) + near(name, v.flags) + v.asField(name))
		}
		switch {
		case f.arg == "" && hasValue:
			return nil, usageError(v.name + ": " + dashed(name) + " takes no value")
		case f.arg == "":
			value = "true"
		case !hasValue && len(args) == 0:
			return nil, usageError(v.name + ": " + dashed(name) + " wants " + f.arg)
		case !hasValue:
			value, args = args[0], args[1:]
		}
		if f.some && value == "" {
			return nil, usageError(v.name + ": " + dashed(name) + " wants " + f.arg + ", and not \"\"")
		}
		if !f.many && c.has(name) {
			return nil, usageError(v.name + ": " + dashed(name) + " is given twice")
		}
		c.values[name] = append(c.values[name], value)
		c.given = append(c.given, given{name, value})
	}
	return c, nil
}

func (v *verb) extra(word string) error {
	return usageError(v.name + " takes no argument, and not " + spec.Word(word))
}

// command tells whether what follows the flags is a command with flags of its
// own.
func (v *verb) command() bool { return strings.Contains(v.args, "command") }

// counts tells whether a word is an argument such as -2, of a verb that takes one.
func (v *verb) counts(word string) bool {
	return strings.Contains(v.args, "-N") && doc.LeadingDigits(word[1:]) == word[1:]
}

func (v *verb) flag(name string) *flag {
	for i := range v.flags {
		if v.flags[i].name == name {
			return &v.flags[i]
		}
	}
	if name == "help" || name == "h" {
		return &flag{name: name}
	}
	return nil
}

// near suggests the flag that was meant.
func near(name string, flags []flag) string {
	known := make([]string, len(flags))
	for i := range flags {
		known[i] = flags[i].name
	}
	if f := doc.NearestWord(name, known); f != "" {
		return " (did you mean " + dashed(f) + "?)"
	}
	return ""
}

// fieldsByFlag are fields of the spec that have no flag, with a value each, by the flags
// that other tools have for them.
var fieldsByFlag = map[string]string{
	"cpus": `{"limits": {"cpus": 1.5}}`, "memory": `{"limits": {"memory": "2GiB"}}`, "pids": `{"limits": {"pids": 100}}`,
	"listen": `{"network": {"listen": ["8080:3000"]}}`, "publish": `{"network": {"listen": ["8080:3000"]}}`,
	"net": `{"network": {"mode": "host"}}`, "network": `{"network": {"mode": "host"}}`,
	"bind":   `{"filesystem": {"mounts": [{"source": "/srv/data", "target": "/data", "mode": "ro"}]}}`,
	"mount":  `{"filesystem": {"mounts": [{"source": "/srv/data", "target": "/data", "mode": "ro"}]}}`,
	"tmpfs":  `{"filesystem": {"mounts": [{"target": "/scratch", "mode": "tmpfs"}]}}`,
	"volume": `{"filesystem": {"mounts": [{"source": "/srv/data", "target": "/data", "mode": "ro"}]}}`,
}

// asField is how the spec says what a flag that is not there would.
func (v *verb) asField(flag string) string {
	example := fieldsByFlag[flag]
	if example == "" || v.flag("spec-json") == nil {
		return ""
	}
	return "\nhint: it is a field of the spec, as --spec-json '" + strings.Replace(example, "{", `{"access_mode": "workspace-write", `, 1) + "' (sbx man 5 spec)"
}

// usageError is a command line that cannot be: exit status 2.
type usageError string

func (e usageError) Error() string { return string(e) }
