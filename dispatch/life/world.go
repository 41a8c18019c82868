package life

import (
	"io"
	"time"

	"sbx/dispatch"
	"sbx/spec"
)

// World is the machine as dispatches use it.
type World struct {
	Sbx      string   // the program sbx
	Self     []string // this program and the arguments that make it a keeper, to which a job's directory is appended
	StateDir string   // sbx's own state directory; "" for none
	Home     string   // the caller's; "" for none
	Live     string   // the directory of live files, /tmp
	Environ  []string
	Version  string
	Errors   io.Writer // the driver's stderr

	// Brief means that the process ends right after a spawn. It then does not close the
	// ledger: the last process to close it has to wait for the disk while it writes the log
	// back, and the keeper is about to open it anyway. The keeper closes the ledger, since
	// every process that opens it reads a log that was not written back.
	Brief bool

	// Step is called with a name at each point where a crash would leave a change
	// incomplete. Tests stop the process there.
	Step func(name string)
}

func (w *World) step(name string) {
	if w.Step != nil {
		w.Step(name)
	}
}

// Job is the task of a keeper. It is stored in the dispatch's directory.
type Job struct {
	Ledger  dispatch.Place
	ID      string
	Project string   // absolute
	Cwd     string   // the directory from which it was spawned; "" if unknown
	Argv    []string // the command; nil to run the agent of the type Agent
	Agent   string   // agent_type
	Name    string
	Model   string
	Prompt  string // the file; "" for none
	Output  string // the file for stdout, or for an agent's last message
	Timeout time.Duration
	Driver  bool // another program started the keeper and reads its live file
	// LeaveStatus leaves the row's status to the program that started the driver.
	LeaveStatus bool

	Sandbox    string // the plain mode
	HasSandbox bool
	Spec       string // sandbox_spec
	HasSpec    bool
}

// VerdictFile returns the path of the verdict file; absent for a command, which has none.
func (j *Job) VerdictFile() spec.Opt[string] {
	if j.Argv != nil {
		return spec.Opt[string]{}
	}
	return spec.Some(j.Output + ".verdict")
}

// problem returns an error about on.
func problem(on, do, why, help string) *spec.Problem {
	return &spec.Problem{On: on, Do: do, Why: why, Help: help}
}
