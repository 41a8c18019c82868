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

// The exit statuses that are no command's own.
const (
	StatusEnded    = 124 // a limit ended the command
	StatusRefused  = 125 // the command did not start
	StatusNoExec   = 126
	StatusNotFound = 127
)

// Ask is what is to be run, and how: all that a command line says of it.
type Ask struct {
	ID      string // of the record
	At      time.Time
	Version string // of sbx

	Argv      []string
	Typed     []string // Argv before sbx put flags into it; nil where it did not
	Cwd       string   // where it starts
	Documents []*spec.SandboxSpec
	Inputs    spec.Inputs    // with what Documents are resolved
	Resolved  *spec.Resolved // nil where Documents do not hold
	Profile   audit.Profile
	Warnings  []spec.Warning
	Lost      []wrap.Enforcement // what a document asks in a way that is no field
	Worker    bool               // no document but a worker's, and its workshop's

	Agent agent.Command // which the command is
	Seen  wrap.AgentSeen

	Effective spec.Opt[string] // where the record goes, as named
	Counter   wrap.Counter
	Describe  wrap.Describe
	Backend   string // the tool that holds the sandbox; "" for sbx itself
	Image     string
	Keep      []int // descriptors that the command gets, beside the first three
	Progress  int   // the descriptor that is told what was used; 0 for none
	DryRun    bool  // only to be planned
	NoCommand bool  // the documents are judged, and no program

	// Again tells whether sbx, called with these arguments, would be called without a
	// command: by the first line of a script that names no interpreter.
	Again func(args []string) bool

	Caller  launch.Caller
	Signals int // where launch.Catch's are read
	Voice   Reporter
	Timings *Timings // nil for none
}

// record is what is known of the run before it.
func (a *Ask) record() audit.Record {
	r := audit.Record{ID: a.ID, StartedAt: a.At, Version: a.Version, Command: audit.Command{Argv: a.Argv, Asked: a.Typed, Cwd: a.Cwd},
		Documents: a.Documents, Resolved: a.Resolved, Profile: a.Profile, Warnings: a.Warnings}
	for _, d := range a.Documents {
		r.Sources = append(r.Sources, d.Source.Name)
	}
	return r
}

// Reporter is how a person is told of a run.
type Reporter struct {
	Say     func(text string) // lines
	Problem func(*spec.Problem)
	Quiet   bool // warnings are not wanted
	Mixed   bool // what is said goes where the command's stdout does, to a program
	Explain bool // refusals are said all the same
	Verbose bool
}

// Muted tells whether nothing is said while the command runs. Where stderr goes where
// stdout does, and that is no terminal, a program reads both, and a line of sbx's
// would break what it reads.
func (v *Reporter) Muted() bool { return v.Quiet || v.Mixed && !v.Explain }

func (v *Reporter) verbose(text string) {
	if v.Verbose {
		v.Say(text)
	}
}

// Ended is a run that is over, or was refused.
type Ended struct {
	Status int // the exit status
	Record audit.Record
	// Interrupted is the terminal's signal that ended the command: a shell that waits
	// ends its loop or script by that, and not by the status. 0 for none.
	Interrupted unix.Signal
	Learned     []Denied // what would have been denied without a layer, where there was one
}
