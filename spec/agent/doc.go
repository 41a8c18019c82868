// Package agent knows the command lines of coding agents: which flags limit an agent to a set of
// tools, a permission mode and its directories, which of these limits the agent really keeps, and
// which files it needs to work at all.
//
//	args, kept, lacking := agent.Flags(spec.Claude, agent.Ask{Allowed: spec.Some([]string{"Read", "Bash(git:*)"})})
//
// Each agent has a row in adapters and files of its own, named after it. The package consists of
// data and pure functions.
//
// The flags were chosen by measuring the agents. In all three, an allow-list flag only adds
// grants, so every adapter also withholds the tools that are not listed; it returns those that it
// cannot withhold as a Lack, never silently. While an agent has a shell tool, its path rules do not
// hold, and it matches patterns of commands against text only. Such a promise is marked ByAgent; it
// is a boundary only if the kernel enforces the same (Ask.Access).
package agent
