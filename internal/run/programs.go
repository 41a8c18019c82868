package run

import (
	"strings"

	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
)

// lackingHint is how what the command is started by comes into view: its loader, or the
// interpreter of a script. It is "" where the view is not the reason.
func (x *planned) lackingHint() string {
	if hops := host.Trace(x.Program.Path, x.Resolved); x.Resolved.Visible && len(hops) > 1 {
		return wrap.Allows(wrap.Reading(x.Resolved, hops[len(hops)-1].Path))
	}
	return ""
}

// startsItself tells whether the command is a script for sbx itself that names no
// interpreter: the kernel adds the script's path, and sbx would start it, and so on.
func (x *planned) startsItself() bool {
	line := host.FirstLine(x.Program.Real)
	if len(line) < 2 || !x.Again(line[1:]) {
		return false
	}
	program, _ := host.LookUp(line[0], x.Resolved)
	return isItself(program.Real)
}

// unfound says that a command's program is not to be had.
func unfound(name string, found host.Search) error {
	status, why := StatusNotFound, "it is not there"
	switch {
	case found == host.NotExecutable:
		status, why = StatusNoExec, "it is not executable"
	case !strings.Contains(name, "/"):
		why = "it is in no directory of PATH"
	}
	return &unstarted{&spec.Problem{On: name, Do: "run the command", Why: why}, status}
}

// find takes the program that the command names, where it was found.
func (x *planned) find(found host.Search) error {
	if found != host.Found {
		return unfound(x.Argv[0], found)
	}
	x.record.Command.Executable = x.Program.Real
	if x.startsItself() {
		return &spec.Problem{On: x.Argv[0], Do: "run the command", Why: "its first line starts sbx without a program, which would start this script again",
			Help: "name the script's interpreter there, as in #!/usr/bin/env -S sbx exec -- sh"}
	}
	return nil
}

// lookUp looks for the program. An agent's is executed by the file itself, which
// is in view; a link to it may not be.
func (x *planned) lookUp() (found host.Search) {
	x.Program, found = host.LookUp(x.Argv[0], x.Resolved)
	if x.Agent.Agent != 0 {
		x.Program.Path = x.Program.Real
	}
	return found
}

// execNeeds is what a process has of its own besides its arguments when it is
// executed: tables, a stack.
const execNeeds = 128 << 10

// tooLarge says that limits.memory is too small for the command to be executed,
// where it is: the kernel then tells of too many arguments, or of no memory.
func (x *planned) tooLarge() *spec.Problem {
	needs := execNeeds
	for _, l := range [][]string{x.Plan.Command.Argv, x.Plan.Env} {
		for _, s := range l {
			needs += len(s) + 9 // a NUL, a pointer
		}
	}
	if !x.Plan.Limits.Confines() || int64(needs) < int64(x.Resolved.Spec.Limits.Value.Memory.Value) {
		return nil
	}
	return &spec.Problem{Field: "limits.memory", On: x.Resolved.At("limits.memory"), Do: "execute the command",
		Why: "the limit is too small for its arguments and environment", Help: "raise limits.memory"}
}
