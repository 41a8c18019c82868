package outer

import (
	"slices"

	"sbx/spec"
	"sbx/wrap"
)

// containerTool is a container that an engine makes and a runtime starts. The Ask's Resolved and
// Host describe what the container sees, as if it were the host.
var containerTool = tool{name: nameContainer, args: func(*wrapper) {}, cannot: containerCannot, instead: besideContainer,
	without: []Lack{{wrap.FieldProtected, noWatch}}}

// containerCannot returns why neither a container's configuration nor sbx-init enforces a field.
func containerCannot(w *wrapper, f spec.Field) string {
	switch {
	case slices.Contains([]spec.Field{"limits.timeout", "max_commands", "commands.allow", "commands.deny"}, f):
		if w.a.Supervised {
			return ""
		}
		return "the container has no supervisor: " + w.a.Host.Listener.Why
	case slices.Contains(wrap.GroupLimits(), f) && w.found() == nil:
		return "the runtime makes no control groups here"
	case f.In("sandbox", "restrict"):
		return "a container has no workshop, whose tree lies on the host"
	case f == "syscalls" && w.a.Resolved.Syscalls != "default":
		return "the list would be read from the image, which could say anything"
	case f.In("profile", "agent"):
		return "no flags are put into a container's command"
	}
	return unwatched(w, f)
}

// besideContainer returns what can enforce a field that a container does not.
func besideContainer(f spec.Field) string {
	switch {
	case f == "network.allow":
		return "have the engine's network keep to the list and set network.mode to host, or set it to none"
	case f == "network.listen":
		return "have the engine publish the ports"
	case f.In("broker"):
		return "use sbx exec --backend docker, which starts a broker for a container"
	case f.In("sandbox", "restrict"):
		return "list paths of the container in filesystem.read and filesystem.write"
	case f == "syscalls":
		return "give the list to the engine: it holds beside that of sbx"
	case f.In("agent", "profile", "tools_allowed", "tools_denied", "max_turns"):
		return "have sbx exec in the image start the agent"
	case slices.Contains(wrap.GroupLimits(), f):
		return "give the limit to the engine"
	case f.In("limits.timeout", "max_commands", "commands"): // the supervisor's
		return "give the container a list of system calls that allows seccomp and has no listener"
	}
	return "use sbx exec in the container"
}

// Contained is a Plan for a container, and the steps that restrict it.
type Contained struct {
	Asked
	Plan  *wrap.Plan
	Nodes []wrap.Node        // laid over the container's root and mounts, in order
	Lines []wrap.Enforcement // of the record
}

// Contain plans for a container whose command is program. Host.Tools has one called "sbx-oci"
// where the runtime makes control groups. The error is spec.Problems.
func Contain(a Ask, program wrap.Program) (*Contained, error) {
	a.Unlisted = true
	w := &wrapper{tool: &containerTool, a: a}
	w.asked.Request.Program = program
	if err := w.finish(); err != nil {
		return nil, err
	}
	return &Contained{Asked: w.asked, Plan: w.plan, Nodes: w.nodes, Lines: w.promised(w.lacks)}, nil
}
