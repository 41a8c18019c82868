package wrap

import (
	"slices"

	"sbx/spec"
)

// containerTool is a container that an engine makes and a runtime starts. Its root is what
// the host is elsewhere: the Ask's Resolved and Host are of what the container sees.
var containerTool = tool{name: nameContainer, args: func(*wrapper) {}, cannot: containerCannot,
	without: []Lack{{FieldProtected, noWatch}}}

// containerCannot is what no container can be told, nor does sbx-init hold in it.
func containerCannot(w *wrapper, f spec.Field) string {
	switch {
	case slices.Contains([]spec.Field{"limits.timeout", "max_commands", "commands.allow", "commands.deny"}, f):
		if w.a.Supervised {
			return ""
		}
		return "the container has no supervisor: " + w.a.Host.Listener.Why
	case slices.Contains(GroupLimits(), f) && w.found() == nil:
		return "the runtime makes no control groups here"
	case within(f, "sandbox", "restrict"):
		return "a container has no workshop, whose tree lies on the host"
	case f == "syscalls" && w.a.Resolved.Syscalls != "default":
		return "the list would be read from the image, which could say anything"
	case within(f, "profile", "agent"):
		return "no flags are put into a container's command"
	}
	return unwatched(w, f)
}

// Asked is what a Plan for a tool is built from.
type Asked struct {
	Resolved *spec.Resolved
	Host     *Host
	Request  Request
}

// Contained is how a container is narrowed.
type Contained struct {
	Asked
	Plan  *Plan
	Nodes []Node        // laid over its root and mounts, in order
	Lines []Enforcement // of the record
}

// Contain plans for a container whose command is program. Host.Tools has one called "sbx-oci" where the runtime
// makes control groups. The error is spec.Problems.
func Contain(a Ask, program Program) (*Contained, error) {
	a.Unlisted = true
	w := &wrapper{tool: &containerTool, a: a}
	w.asked.Request.Program = program
	if err := w.finish(); err != nil {
		return nil, err
	}
	return &Contained{Asked: w.asked, Plan: w.plan, Nodes: w.nodes, Lines: w.promised(w.lacks)}, nil
}
