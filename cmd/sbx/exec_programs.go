package main

import (
	"path"
	"slices"
	"strings"

	"sbx/audit/listen"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
)

// programRule is the line of the spec by which a program may not be started,
// and the one that would let it be.
func (x *execution) programRule(cause listen.Cause, path string) (rule, allow string) {
	switch cause {
	case listen.ByDeny:
		return "commands.deny", wrap.Undenied(x.resolved, x.programName(path))
	case listen.ByLoader:
		if !x.resolved.Limited {
			return "commands.deny", "" // what it was to load may be started itself
		}
		return "commands.allow", wrap.Starting(x.resolved, path)
	}
	return "commands.allow", wrap.Starting(x.resolved, x.programName(path))
}

// isOnPath tells whether a program lies where the command looks for names.
func (x *execution) isOnPath(program string) bool {
	return slices.Contains(strings.Split(variable(x.resolved.Env, "PATH"), ":"), path.Dir(program))
}

// lackingHint is how what the command is started by comes into view: its loader, or the
// interpreter of a script. It is "" where the view is not the reason.
func (x *execution) lackingHint() string {
	if hops := host.Trace(x.program.Path, x.resolved); x.resolved.Visible && len(hops) > 1 {
		return wrap.Allows(wrap.Reading(x.resolved, hops[len(hops)-1].Path))
	}
	return ""
}

// startsItself tells whether the command is a script for sbx itself that names no
// interpreter: the kernel adds the script's path, and sbx would start it, and so on.
func (x *execution) startsItself() bool {
	line := host.FirstLine(x.program.Real)
	if len(line) < 2 || line[1] != x.name {
		return false
	}
	again, err := x.verb.parse(line[2:])
	if err != nil || len(again.rest) > 0 {
		return false
	}
	program, _ := host.LookUp(line[0], x.resolved)
	return isItself(program.Real)
}

// programName is a program as a spec would name it: by its name alone where
// that leads to it, else by its path from the working directory.
func (x *execution) programName(path string) string {
	for i := range x.host.Deny {
		if e := &x.host.Deny[i]; e.Real == path || e.Path == path {
			return e.Asked
		}
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	is, _ := host.LookUp(path, x.resolved)
	if prog, found := host.LookUp(name, x.resolved); name != "" && found == host.Found && prog.Real == is.Real {
		return name
	}
	if rel := wrap.Relative(x.resolved, path); rel != path {
		return "./" + rel
	}
	return path
}

// find takes the program that the command names, where it was found.
func (x *execution) find(found host.Search) (int, error) {
	if found != host.Found {
		status, why := exitNotFound, "it is not there"
		if found == host.NotExecutable {
			status, why = exitNoExec, "it is not executable"
		}
		return status, &spec.Problem{On: x.rest[0], Do: "run the command", Why: why}
	}
	x.record.Command.Executable = x.program.Real
	if x.startsItself() {
		return exitRefused, &spec.Problem{On: x.rest[0], Do: "run the command", Why: "its first line starts sbx without a program, which would start this script again",
			Help: "name the script's interpreter there, as in #!/usr/bin/env -S sbx exec -- sh"}
	}
	return 0, nil
}

// lookUp looks for the program. An agent's is executed by the file itself, which
// is in view; a link to it may not be.
func (x *execution) lookUp() (found host.Search) {
	x.program, found = host.LookUp(x.rest[0], x.resolved)
	if x.agent.Agent != 0 {
		x.program.Path = x.program.Real
	}
	return found
}
