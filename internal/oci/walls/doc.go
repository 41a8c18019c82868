// Package walls holds the restrictions that a runtime's config.json cannot express: a Landlock
// ruleset and a syscall filter with a listener. sbx-init applies them to itself in a container
// before it executes the command.
package walls
