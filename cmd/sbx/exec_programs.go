package main

import (
	"strings"

	"sbx/audit/listen"
	"sbx/wrap/launch"
)

// programRule is the line of the spec by which a program may not be started,
// and the one that would let it be.
func (x *execution) programRule(cause listen.Cause, path string) (rule, allow string) {
	switch cause {
	case listen.ByDeny:
		return "commands.deny", "commands.deny: without " + quoteJSON(x.programName(path))
	case listen.ByLoader:
		if !x.resolved.Limited {
			return "commands.deny", "" // what it was to load may be started itself
		}
		return "commands.allow", "commands.allow: [" + quoteJSON(path) + "]"
	}
	return "commands.allow", "commands.allow: [" + quoteJSON(x.programName(path)) + "]"
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
	is, _ := launch.LookUp(path, x.resolved)
	if prog, found := launch.LookUp(name, x.resolved); name != "" && found == launch.Found && prog.Real == is.Real {
		return name
	}
	if rel := x.relative(path); rel != path {
		return "./" + rel
	}
	return path
}
