package main

import (
	"errors"
	"io"
	"os"
	"strings"

	"sbx/dispatch"
	"sbx/dispatch/life"
	"sbx/spec"
)

// version is set by the linker.
var version = "devel"

// The exit statuses, beside a driver's, which is its command's.
const (
	exitOK      = 0
	exitFailed  = 1   // there is no such dispatch, or the one waited for failed
	exitUsage   = 2   // the command line
	exitRefused = 125 // it could not be done
)

// program is one run of this program.
type program struct {
	world   *life.World
	command []string // what stands behind "--"
	bare    bool     // there is a "--"
	status  int
}

// usageError is a command line that does not hold.
type usageError string

func (e usageError) Error() string { return string(e) }

// fail tells an error and gives the exit status for it.
func (p *program) fail(err error) int {
	var usage usageError
	var none *dispatch.NotFound
	p.status = exitRefused
	switch {
	case errors.As(err, &usage):
		p.status = exitUsage
		say(os.Stderr, err.Error())
		say(os.Stderr, "hint: sbx dispatch --help")
	case errors.As(err, &none):
		p.status = exitFailed
		say(os.Stderr, spec.Shown(err.Error()))
	default:
		for _, problem := range spec.AsProblems(err) {
			tell(os.Stderr, problem)
		}
	}
	return p.status
}

// say writes a line for a person.
func say(to io.Writer, text string) {
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		_, _ = io.WriteString(to, "sbx-dispatch: "+line+"\n")
	}
}

// tell tells a refusal.
func tell(to io.Writer, p *spec.Problem) {
	for _, line := range spec.Told(p) {
		say(to, spec.Shown(line))
	}
}
