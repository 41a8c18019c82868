package spec

import "slices"

// FieldInfo describes one leaf field of the spec.
type FieldInfo struct {
	Field Field
	Type  string // as the documentation names it
	Doc   string // one line
	Later bool   // its enforcement does not exist yet: Resolve lists it in NotYet
	// Untrusted is true if a project's own spec may set the field although nobody trusts that spec.
	// Such a spec must narrow the access that the command has without it; Narrow checks this on the
	// whole result, as for every child. The other fields change the subject of the rules: which
	// program is an agent and gets its keys (agent, profile, a mount over a program), where a key
	// is sent (a base URL in environment.set), how strictly rules are enforced (best_effort), which
	// directories are created (profile).
	Untrusted bool
}

// The types of fields that hold paths, by which a placer finds them.
const (
	typePath     = "path"
	typePaths    = "list of paths"
	typePrograms = "list of programs"
)

// Fields lists every leaf field, in the order of the documentation.
func Fields() []FieldInfo { return slices.Clone(fields) }

var fields = []FieldInfo{
	{"tools_allowed", "list of tools", "the agent's tools that may be used; patterns as Bash(git:*)", false, true},
	{"tools_denied", "list of tools", "the agent's tools that may not be used; denied wins", false, true},
	{"working_dir", typePath, "where the command starts, and what workspace-write may write", false, true},
	{"access_mode", "read-only, workspace-write or danger-full-access", "how much of the host's files may be changed", false, true},
	{"max_turns", "whole number", "model turns of the agent", false, true},
	{"max_commands", "whole number", "programs that the command and its descendants may start", false, true},
	{"profile", "read-only, write, verification or design", "a named starting point that the spec's own fields narrow", false, false},
	{"sandbox.root", typePath, "the workshop's tree that restrict counts from, relative to the spec's file", false, false},
	{"sandbox.readonly", "true or false", "the workshop's tree may only be read", false, false},
	{"restrict", "path from the root", "the worker's subtree of the workshop's tree", false, false},
	{"readonly", "true or false", "writable paths become read-only", false, true},
	{"filesystem.read", typePaths, "paths in view; @system has the files that a program needs to start", false, true},
	{"filesystem.write", typePaths, "paths that may be written in addition to the working directory", false, true},
	{"filesystem.hide", typePaths, "what looks absent", false, true},
	{"filesystem.mounts", "list of mounts", "host paths, or empty directories in memory, at paths of the sandbox", false, false},
	{"network.mode", "none, allow or host", "no network, that of network.allow, or the host's", false, true},
	{"network.allow", "list of host:port", "hosts and ports that may be reached under mode allow", false, true},
	{"network.listen", "list of ports", "ports that the host may reach the command on", false, false},
	{"environment.pass", "list of names and globs", "the caller's variables that the command gets", false, true},
	{"environment.set", "object of strings", "variables that are set for the command", false, false},
	{"commands.allow", typePrograms, "the only programs that may be started", false, true},
	{"commands.deny", typePrograms, "programs that may not be started", false, true},
	{"limits.memory", "size", "memory of all processes together", false, true},
	{"limits.cpus", "number", "processors' worth of time of all processes together", false, true},
	{"limits.pids", "whole number", "processes and threads at one time", false, true},
	{"limits.open_files", "whole number", "open descriptors of one process", false, true},
	{"limits.file_size", "size", "size of one file that is written", false, true},
	{"limits.timeout", "duration", "time after which everything is ended", false, true},
	{"syscalls", "default or path", "the list of system calls that are denied", false, false},
	{"broker.file", typePath, "the document of a broker, which runs tools for the command outside of the sandbox", false, false},
	{"broker.plan", typePath, "the plan of steps that the broker enforces", false, false},
	{"broker.grant", "list of capabilities", "capabilities of the broker's tools in addition to the sandbox's", false, false},
	{"on_exceed", "deny, kill or record", "what happens at max_commands and max_turns", false, true},
	{"best_effort", "list of fields", "fields that may be enforced less than requested; * for all", false, false},
	{"require_available", "true or false", "false is the same as best_effort: [\"*\"]", false, false},
	{"agent", "claude, codex, gemini or none", "the agent; absent: known by the command's name", false, false},
}
