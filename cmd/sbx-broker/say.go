package main

import (
	"os"

	"sbx/spec"
)

// The exit statuses, which are the same as sbx's.
const (
	exitOK      = 0
	exitFailed  = 1 // a step would be denied, or there is no such question
	exitUsage   = 2
	exitRefused = 125
)

func print(text string) { _, _ = os.Stdout.WriteString(text) }

func complain(lines ...string) {
	for _, l := range lines {
		_, _ = os.Stderr.WriteString("sbx-broker: " + spec.Shown(l) + "\n")
	}
}

// refuse prints a problem in the form that sbx uses.
func refuse(err error) int {
	complain(spec.Told(spec.AsProblems(err)[0])...)
	return exitRefused
}
