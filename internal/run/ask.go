package run

import (
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/spec"
	"sbx/spec/agent"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// These are the exit statuses of sbx itself.
const (
	StatusEnded    = 124 // a limit ended the command
	StatusRefused  = 125 // the command did not start
	StatusNoExec   = 126
	StatusNotFound = 127
)

// Ask is a request to run a command: everything that a command line says about the run.
type Ask struct {
	ID      string // the id of the record
	At      time.Time
	Version string // the version of sbx

	Argv      []string
	Typed     []string // Argv before sbx added flags to it; nil if it added none
	Cwd       string   // the working directory
	Documents []*spec.SandboxSpec
	Inputs    spec.Inputs    // the inputs for resolving Documents
	Resolved  *spec.Resolved // nil if Documents are invalid
	Profile   audit.Profile
	Warnings  []spec.Warning
	Lost      []wrap.Enforcement // requests of a document that are not fields of a SandboxSpec and were lost
	Worker    bool               // all documents are a worker's or its workshop's

	Agent agent.Command // the agent that the command is
	Seen  wrap.AgentSeen

	Effective spec.Opt[string] // where the record is written, as the caller named it
	Counter   wrap.Counter
	Describe  wrap.Describe
	Backend   string // the tool that makes the sandbox; "" for sbx itself
	Image     string
	Keep      []int // descriptors that the command gets in addition to 0, 1 and 2
	Progress  int   // the descriptor to which resource usage is written; 0 for none
	DryRun    bool  // stop after planning
	NoCommand bool  // only resolve the documents; there is no program

	// Again reports whether sbx, called with these arguments, would run a default command: the
	// kernel calls sbx so for a script whose first line names sbx and no interpreter.
	Again func(args []string) bool

	Caller  launch.Caller
	Signals int // the descriptor from which the signals of launch.Catch are read
	Voice   Reporter
	Timings *Timings // nil for none
}

// record returns a record with all that is known before the run.
func (a *Ask) record() audit.Record {
	r := audit.Record{ID: a.ID, StartedAt: a.At, Version: a.Version, Command: audit.Command{Argv: a.Argv, Asked: a.Typed, Cwd: a.Cwd},
		Documents: a.Documents, Resolved: a.Resolved, Profile: a.Profile, Warnings: a.Warnings}
	for _, d := range a.Documents {
		r.Sources = append(r.Sources, d.Source.Name)
	}
	return r
}

// Reporter says how messages of a run reach a person.
type Reporter struct {
	Say     func(text string) // prints lines
	Problem func(*spec.Problem)
	Quiet   bool // no warnings
	Mixed   bool // stderr is the same file as the command's stdout and not a terminal
	Explain bool // print denials even if Mixed is set
	Verbose bool
}

// Muted reports whether nothing is printed while the command runs. If stderr and stdout
// are the same pipe or file, a program reads both, and a line of sbx's would break what it
// parses.
func (v *Reporter) Muted() bool { return v.Quiet || v.Mixed && !v.Explain }

// print prints text unless the reporter is muted.
func (v *Reporter) print(text string) {
	if !v.Muted() {
		v.Say(text)
	}
}

func (v *Reporter) printVerbose(text string) {
	if v.Verbose {
		v.Say(text)
	}
}

// Ended is a run that is over or did not start.
type Ended struct {
	Status int // the exit status
	Record audit.Record
	// Interrupted is the terminal's signal that ended the command; 0 for none. The caller ends
	// by the same signal: a shell that waits stops its loop or script because of the signal,
	// not because of the status.
	Interrupted unix.Signal
	Learned     []Denied // what would have been denied without the layer that learns, if there was one
}
