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

// flag is an option of a command.
type flag struct {
	name string // without the dashes
	arg  string // the name of its argument; "" for none
	many bool   // it may be repeated
	some bool   // an empty argument is an error: it may come from an unset variable
	help string

	field spec.Field // the field of the document to which the argument is added; "" for none
}

// verb is a command of sbx, the first word of its command line.
type verb struct {
	name    string
	also    string // a second name; "" for none
	args    string // the operands, for the help
	short   string // one line
	long    string // for the help and the manual page
	example string
	flags   []flag
	run     func(*call) int
}

// commandLine is a parsed command line: a command's flags and operands, and the caller's
// environment.
type commandLine struct {
	*verb
	values  map[string][]string
	given   []givenFlag // every flag that has a value, in order
	rest    []string
	std     streams
	environ []string
	homeDir spec.Opt[string] // set by home
	// startDir is where the command starts, if not in the current directory.
	startDir string
}

// agentCommand is a command, and the agent that it is.
type agentCommand struct {
	commandLine
	agent    agent.Command  // the agent that the command is
	confined agent.Confined // the restrictions of the agent's own sandbox
	unproven []string       // the message if the command has an agent's name and does not count as one
	named    bool           // only a document says that it is one
}

// documentSet is the documents for a command, and the results of reading them.
type documentSet struct {
	agentCommand
	// mounting says that the last document has the directories that a caller of wrap named
	// itself: they may be in directories such as /tmp.
	mounting bool
	names    host.Finder // finds the files of filesystem.hide
	// learning says that sbx learn runs the command.
	learning bool
	// readStdin says that a spec was read from stdin.
	readStdin bool
	mode      spec.PermissionMode // the profile's mode for the agent's command line
	chosen    audit.Profile       // the profile in use
	made      []string            // directories that were created because a profile writes them
	project   *projectSpec        // the project's own spec; nil if it is not used
	warnings  []spec.Warning      // from reading the documents
	lost      []wrap.Enforcement  // requests of a document that are not fields of a SandboxSpec and were lost
}

// call is a call of a command. Steps that need only the command line, the agent or the
// documents are methods of those.
type call struct{ documentSet }

// givenFlag is a flag on the command line.
type givenFlag struct{ name, value string }

func (c *commandLine) has(name string) bool { return len(c.values[name]) > 0 }

// value returns the last value of a flag.
func (c *commandLine) value(name string) string {
	if v := c.values[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// parse reads a command's flags: up to "--" and, if the operands are a command line, up to
// the first word that is not a flag.
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
		if len(word) < 2 || word[0] != '-' || v.isNumber(word) {
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
			return nil, usageError(v.name + ": no flag " + spec.Word(word) + nearFlag(name, v.flags) + v.asField(name))
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
		c.given = append(c.given, givenFlag{name, value})
	}
	return c, nil
}

func (v *verb) extra(word string) error {
	return usageError(v.name + " takes no argument, and not " + spec.Word(word))
}

// command reports whether the operands are a command line with flags of its own.
func (v *verb) command() bool { return strings.Contains(v.args, "command") }

// isNumber reports whether a word is an operand such as -2.
func (v *verb) isNumber(word string) bool {
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

// nearFlag suggests the flag that was probably meant.
func nearFlag(name string, flags []flag) string {
	known := make([]string, len(flags))
	for i := range flags {
		known[i] = flags[i].name
	}
	if f := doc.NearestWord(name, known); f != "" {
		return " (did you mean " + dashed(f) + "?)"
	}
	return ""
}

// fieldsByFlag has, by the names of other tools' flags, the fields of the spec that have
// no flag, with an example value each.
var fieldsByFlag = map[string]string{
	"cpus": `{"limits": {"cpus": 1.5}}`, "memory": `{"limits": {"memory": "2GiB"}}`, "pids": `{"limits": {"pids": 100}}`,
	"listen": `{"network": {"listen": ["8080:3000"]}}`, "publish": `{"network": {"listen": ["8080:3000"]}}`,
	"net": `{"network": {"mode": "host"}}`, "network": `{"network": {"mode": "host"}}`,
	"bind":   `{"filesystem": {"mounts": [{"source": "/srv/data", "target": "/data", "mode": "ro"}]}}`,
	"mount":  `{"filesystem": {"mounts": [{"source": "/srv/data", "target": "/data", "mode": "ro"}]}}`,
	"tmpfs":  `{"filesystem": {"mounts": [{"target": "/scratch", "mode": "tmpfs"}]}}`,
	"volume": `{"filesystem": {"mounts": [{"source": "/srv/data", "target": "/data", "mode": "ro"}]}}`,
}

// asField says how the spec expresses what an unknown flag would.
func (v *verb) asField(flag string) string {
	example := fieldsByFlag[flag]
	if example == "" || v.flag("spec-json") == nil {
		return ""
	}
	return "\nhint: it is a field of the spec, as --spec-json '" + strings.Replace(example, "{", `{"access_mode": "workspace-write", `, 1) + "' (sbx man 5 spec)"
}

// usageError is an invalid command line: exit status 2.
type usageError string

func (e usageError) Error() string { return string(e) }
