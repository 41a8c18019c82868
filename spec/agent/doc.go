// Package agent knows the command lines of coding agents: which flags make one
// keep to a set of tools, a permission mode and its directories, which of that it
// then really keeps, and which files it needs to work at all.
//
//	args, kept, lacking := agent.Flags(spec.Claude, agent.Ask{Allowed: spec.Some([]string{"Read", "Bash(git:*)"})})
//
// One file an agent, one row a file in adapters. All of it is data and pure
// functions.
//
// What was measured of the agents decides the flags. In all three an
// allow-list flag only adds grants, so that every adapter also takes away what
// is not listed; what it cannot take away it returns as a Lack, and never drops
// in silence. With a shell tool on, none of their path rules hold, and patterns
// of commands are matched against text: both are called the agent's to keep, and
// a boundary only where the kernel keeps the same (Ask.Access).
package agent
