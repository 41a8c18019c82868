package main

import (
	"errors"
	"os"
	"strings"

	"sbx/dispatch"
	"sbx/dispatch/life"
	"sbx/spec"
)

// version is set by the linker.
var version = "devel"

// The exit statuses. A driver's is that of its command.
const (
	exitFailed  = 1   // there is no such dispatch, or the one waited for failed
	exitUsage   = 2   // the command line is invalid
	exitRefused = 125 // another error
)

// program is one run of this program.
type program struct {
	world   *life.World
	command []string // the arguments after "--"
	bare    bool     // the command line has a "--"
	status  int
}

// usageError is an error in the command line.
type usageError string

func (e usageError) Error() string { return string(e) }

// fail prints an error and returns the exit status for it.
func (p *program) fail(err error) int {
	var usage usageError
	var none *dispatch.NotFound
	p.status = exitRefused
	switch {
	case errors.As(err, &usage):
		p.status = exitUsage
		say(err.Error())
		say("hint: sbx dispatch --help")
	case errors.As(err, &none):
		p.status = exitFailed
		say(spec.Shown(err.Error()))
	default:
		for _, problem := range spec.AsProblems(err) {
			for _, line := range spec.Told(problem) {
				say(spec.Shown(line))
			}
		}
	}
	return p.status
}

// say writes a message to stderr.
func say(text string) {
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		_, _ = os.Stderr.WriteString("sbx-dispatch: " + line + "\n")
	}
}
