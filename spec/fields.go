package spec

import (
	"slices"
)

// FieldInfo describes one leaf field of the spec.
type FieldInfo struct {
	Field Field
	Type  string // as documents say it
	Doc   string // one line
	Later bool   // its enforcement does not exist yet: Resolve lists it in NotYet
}

// Fields lists every leaf field, in the order of the documentation.
func Fields() []FieldInfo { return slices.Clone(fields) }

var fields = []FieldInfo{
	{"tools_allowed", "list of tools", "the agent's tools that may be used; patterns as Bash(git:*)", false},
	{"tools_denied", "list of tools", "the agent's tools that may not be used; denied wins", false},
	{"working_dir", "path", "where the command starts, and what workspace-write may write", false},
	{"access_mode", "read-only, workspace-write or danger-full-access", "how much of the host's files may be changed", false},
	{"max_turns", "whole number", "model turns of the agent", false},
	{"max_commands", "whole number", "programs that the command and its descendants may start", false},
	{"profile", "read-only, write, verification or design", "a named starting point that the spec's own fields narrow", false},
	{"sandbox.root", "path", "the workshop's tree that restrict counts from, relative to the spec's file", false},
	{"sandbox.readonly", "true or false", "the workshop's tree may only be read", false},
	{"restrict", "path from the root", "the worker's subtree of the workshop's tree", false},
	{"readonly", "true or false", "writable paths become read-only", false},
	{"filesystem.read", "list of paths", "paths in view; @system has the files that a program needs to start", false},
	{"filesystem.write", "list of paths", "paths that may be written in addition to the working directory", false},
	{"filesystem.hide", "list of paths", "what looks absent", false},
	{"filesystem.mounts", "list of mounts", "host paths, or empty directories in memory, at paths of the sandbox", false},
	{"network.mode", "none, allow or host", "no network, that of network.allow, or the host's", false},
	{"network.allow", "list of host:port", "hosts and ports that may be reached under mode allow", false},
	{"network.listen", "list of ports", "ports that the host may reach the command on", false},
	{"environment.pass", "list of names and globs", "the caller's variables that the command gets", false},
	{"environment.set", "object of strings", "variables that are set for the command", false},
	{"commands.allow", "list of programs", "the only programs that may be started", false},
	{"commands.deny", "list of programs", "programs that may not be started", false},
	{"limits.memory", "size", "memory of all processes together", false},
	{"limits.cpus", "number", "processors' worth of time of all processes together", false},
	{"limits.pids", "whole number", "processes and threads at one time", false},
	{"limits.open_files", "whole number", "open descriptors of one process", false},
	{"limits.file_size", "size", "size of one file that is written", false},
	{"limits.timeout", "duration", "time after which everything is ended", false},
	{"syscalls", "default or path", "the list of system calls that are denied", false},
	{"broker.file", "path", "the document of a broker, which runs tools for the command outside of the sandbox", false},
	{"broker.plan", "path", "the plan of steps that the broker enforces", false},
	{"broker.grant", "list of capabilities", "capabilities of the broker's tools in addition to the sandbox's", false},
	{"on_exceed", "deny, kill or record", "what happens at max_commands and max_turns", false},
	{"best_effort", "list of fields", "fields that may be enforced less than requested; * for all", false},
	{"require_available", "true or false", "false is the same as best_effort: [\"*\"]", false},
	{"agent", "claude, codex, gemini or none", "the agent; absent: known by the command's name", false},
}
