package life

import (
	"io"
	"time"

	"sbx/dispatch"
	"sbx/spec"
)

// World is what a dispatch needs of the machine.
type World struct {
	Sbx      string   // the program sbx
	Self     []string // this program, and the words by which it becomes a keeper; a job's directory follows
	StateDir string   // sbx's own state directory; "" for none
	Home     string   // the caller's; "" for none
	Live     string   // the directory of live files, /tmp
	Environ  []string
	Version  string
	Errors   io.Writer // for who waits for the driver

	// Brief tells that the process ends after a spawn. The ledger is left to that:
	// the last to close it empties its log to the disk and waits for that, and the
	// keeper is about to open it. The keeper does close it: a log that nobody
	// empties is read anew by each who opens it.
	Brief bool

	// Step is called where a crash would leave something half done, with the
	// step's name: tests stop there.
	Step func(name string)
}

func (w *World) step(name string) {
	if w.Step != nil {
		w.Step(name)
	}
}

// Job is what a keeper is to do. It is written to the dispatch's directory.
type Job struct {
	Ledger  dispatch.Place
	ID      string
	Project string   // absolute
	Cwd     string   // where it was sent off from; "" where that is not known
	Argv    []string // the command; nil: the agent of the type Agent
	Agent   string   // agent_type
	Name    string
	Model   string
	Prompt  string // the file; "" for none
	Output  string // the file that stdout, or an agent's last message, goes to
	Timeout time.Duration
	Driver  bool // somebody else started the keeper, and looks at its live file
	// LeaveStatus leaves the row's status to who started the driver.
	LeaveStatus bool

	Sandbox    string // the plain mode
	HasSandbox bool
	Spec       string // sandbox_spec
	HasSpec    bool
}

// VerdictFile is where the verdict is to stand; absent for a command, which
// gives none.
func (j *Job) VerdictFile() spec.Opt[string] {
	if j.Argv != nil {
		return spec.Opt[string]{}
	}
	return spec.Some(j.Output + ".verdict")
}

// problem is an error in the one shape that errors have.
func problem(on, do, why, help string) *spec.Problem {
	return &spec.Problem{On: on, Do: do, Why: why, Help: help}
}
