package run

import (
	"strings"

	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
)

// lackingHint says how to bring the command's loader, or the interpreter of its script,
// into view; "" if the view is not the reason.
func (x *planned) lackingHint() string {
	if hops := host.Trace(x.Program.Path, x.Resolved); x.Resolved.Visible && len(hops) > 1 {
		return wrap.Allows(wrap.Reading(x.Resolved, hops[len(hops)-1].Path))
	}
	return ""
}

// startsItself reports whether the command is a script for sbx that names no command: the
// kernel adds the script's path to the arguments, sbx would start the script again, and so
// on.
func (x *planned) startsItself() bool {
	line := host.FirstLine(x.Program.Real)
	if len(line) < 2 || !x.Again(line[1:]) {
		return false
	}
	program, _ := host.LookUp(line[0], x.Resolved)
	return isRunningProgram(program.Real)
}

// programNotFound explains why a command's program is not available.
func programNotFound(name string, found host.Search) error {
	status, why := StatusNotFound, "it is not there"
	switch {
	case found == host.NotExecutable:
		status, why = StatusNoExec, "it is not executable"
	case !strings.Contains(name, "/"):
		why = "it is in no directory of PATH"
	}
	return &unstarted{&spec.Problem{On: name, Do: "run the command", Why: why}, status}
}

// setProgram sets the program to the file that was found.
func (x *planned) setProgram(found host.Search) error {
	if found != host.Found {
		return programNotFound(x.Argv[0], found)
	}
	x.record.Command.Executable = x.Program.Real
	if x.startsItself() {
		return &spec.Problem{On: x.Argv[0], Do: "run the command", Why: "its first line starts sbx without a program, which would start this script again",
			Help: "name the script's interpreter there, as in #!/usr/bin/env -S sbx exec -- sh"}
	}
	return nil
}

// lookUp searches for the program. For an agent it uses the file itself, which is in view;
// a link to it may not be.
func (x *planned) lookUp() (found host.Search) {
	x.Program, found = host.LookUp(x.Argv[0], x.Resolved)
	if x.Agent.Agent != 0 {
		x.Program.Path = x.Program.Real
	}
	return found
}

// execNeeds is how much memory execve(2) takes in addition to the arguments: page tables,
// a stack.
const execNeeds = 128 << 10

// tooLarge returns a problem if limits.memory is too small for the command to be executed:
// the kernel reports too many arguments then, or no memory.
func (x *planned) tooLarge() *spec.Problem {
	needs := execNeeds
	for _, l := range [][]string{x.Plan.Command.Argv, x.Plan.Env} {
		for _, s := range l {
			needs += len(s) + 9 // the string's NUL and a pointer to it
		}
	}
	if !x.Plan.Limits.Confines() || int64(needs) < int64(x.Resolved.Spec.Limits.Value.Memory.Value) {
		return nil
	}
	return &spec.Problem{Field: "limits.memory", On: x.Resolved.At("limits.memory"), Do: "execute the command",
		Why: "the limit is too small for its arguments and environment", Help: "raise limits.memory"}
}
