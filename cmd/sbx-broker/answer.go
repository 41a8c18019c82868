package main

import (
	"bufio"
	"os"
	"strings"
	"time"

	"sbx/audit"
	"sbx/internal/broker"
	"sbx/internal/sys"
	"sbx/spec"
)

// every is the interval at which questions are looked for.
const every = 300 * time.Millisecond

// answer answers one question, or asks a person about each question until it is
// interrupted.
func answer(args []string) int {
	environ := os.Environ()
	state := audit.StateDir(environ, spec.HomeDir(environ, func() string { return sys.PasswdHome(os.Getuid()) }, spec.HostPaths{}))
	switch {
	case len(args) == 0:
		return ask(state)
	case len(args) == 2 && (args[1] == "yes" || args[1] == "no"):
		for _, q := range broker.Questions(state) {
			if q.ID != args[0] {
				continue
			}
			if err := q.Answer(args[1] == "yes"); err != nil {
				complain("cannot answer "+q.ID, "why: "+err.Error())
				return exitFailed
			}
			return exitOK
		}
		complain("no question "+args[0]+" waits", "hint: sbx-broker answer lists those that do")
		return exitFailed
	}
	complain("want answer, or answer ID yes|no")
	return exitUsage
}

// ask asks on the terminal. Without a terminal it lists the questions that wait.
func ask(state string) int {
	terminal := sys.IsTerminal(int(os.Stdin.Fd()))
	lines := bufio.NewScanner(os.Stdin)
	seen := map[string]bool{}
	for {
		for _, q := range broker.Questions(state) {
			if seen[q.File+q.ID] {
				continue
			}
			seen[q.File+q.ID] = true
			print(spec.Shown(q.ID + ": " + q.Tool + " " + q.Args))
			if !terminal {
				print("\n")
				continue
			}
			print("\nallow it? [yes/no] ")
			if !lines.Scan() {
				return exitOK
			}
			word := strings.TrimSpace(lines.Text())
			if err := q.Answer(word == "yes" || word == "y"); err != nil {
				complain("cannot answer "+q.ID, "why: "+err.Error())
			}
		}
		if !terminal {
			return exitOK
		}
		time.Sleep(every)
	}
}
