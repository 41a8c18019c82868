package audit

import (
	"time"

	"sbx/audit/agent"
	"sbx/spec"
	"sbx/wrap"
)

// recordVersion is increased when a key changes its meaning, and not for new keys.
const recordVersion = 1

// maxArgv is the maximum number of a command's arguments in a record.
const maxArgv = 1000

// Record is the effective record as a value. It is written once before the command starts and once
// after it has ended. A field that is zero or absent is left out of the file, so that the record
// claims nothing that nobody observed. The state follows from other fields: a record with an Error
// is "refused", one with an EndedAt "exited", any other "running".
type Record struct {
	ID         string
	Supervisor Process
	StartedAt  time.Time
	EndedAt    time.Time
	Version    string // of sbx
	Command    Command

	Documents []*spec.SandboxSpec // in the order in which each narrows the one before
	Sources   []string            // their names, also of those that could not be read
	Resolved  *spec.Resolved      // nil if the refusal came before resolving

	Profile  Profile        // the profile that applies; zero for none
	Warnings []spec.Warning // the warnings that were shown

	Agent         *agent.Summary // the summary of its own stream; nil if none was read
	ToolsUsed     spec.Opt[[]string]
	AccessMode    spec.AccessMode // the mode that was enforced; AccessUnset if nothing was constrained
	TurnsUsed     spec.Opt[int]
	Commands      spec.Opt[Commands] // the counts of programs, including commands_used
	Timeline      *Timeline          // the programs that were started; nil if nothing counted
	Opened        *Openings          // nil if nothing watched opens
	Violations    Violations
	Connections   *Connections // made by a relay; nil without a relay
	Broker        *Broker      // nil if no broker ran tools
	ObservedKinds []string     // the kinds of violations that could be seen
	ObservedFiles []string     // the kinds of denied file access that could be seen

	Backend     Backend // another tool; zero if only sbx was used
	Enforcement []wrap.Enforcement
	Host        *wrap.Host
	Rung        spec.Opt[wrap.Rung]

	Exit  Exit
	Usage Usage

	Artifacts        spec.Opt[[]Artifact] // set with --output
	ArtifactsOmitted int
	Protected        []Change
	Swept            spec.Opt[Swept] // set after the sweep

	Container *Container // an engine's container; nil for a command

	Error *Refusal
}

// Backend is the tool that enforced the sandbox, if one was requested.
type Backend struct {
	Asked   string
	Used    string // Asked, "native", or "none" if nothing was enforced
	Version string // as the tool reports it
	Image   string
	Reason  string // why Used differs from Asked
	// Unseen lists what sbx could not see of the run: commands, refusals, usage.
	Unseen []string
}

// Profile is the profile that applies, and the reasons for it.
type Profile struct {
	Name string
	Why  []string
	Off  bool // a profile was requested, but profiles are switched off
}

// Command is the program that ran. Argv and Asked are redacted when the record is written.
type Command struct {
	Argv       []string
	Asked      []string // the arguments as typed, if sbx changed them
	Cwd        string
	Executable string
}

// Exit says how the command ended.
type Exit struct {
	Code    spec.Opt[int] // the exit status of sbx exec
	Signal  spec.Opt[int] // the signal that ended the command
	EndedBy string        // command, signal, timeout, max_commands, max_turns, tool, memory, broker, supervisor
}

// Usage is the resource usage of the whole process tree.
type Usage struct {
	WallMS   spec.Opt[int64]
	UserMS   spec.Opt[int64]
	SystemMS spec.Opt[int64]
	MaxRSS   spec.Opt[int64] // bytes, of the largest process
	// MemoryPeak is the greatest memory usage of all processes together, page cache and tmpfs
	// included. It is set if a memory cgroup reports it.
	MemoryPeak spec.Opt[int64]
	// Read and Written are bytes read from and written to storage, not the page cache, by the
	// processes that were waited for.
	Read    spec.Opt[int64]
	Written spec.Opt[int64]
}

// Refusal says why a command did not start.
type Refusal struct{ Field, On, Reason, Help string }

// Change describes what happened to a protected file while the command ran. A digest is the SHA-256
// of its content in hex; "" if there was no file to read.
type Change struct {
	Path         string
	DigestBefore string
	DigestAfter  string
	Events       []Notice
	Omitted      int           // how many further events there were
	Unprotected  time.Duration // how long in all its mount was missing
	Bare         bool          // its mount was still missing at the end
	Why          string        // why it was not mounted again
}

// RefusalOf returns a problem of a spec as a record contains it.
func RefusalOf(p *spec.Problem) *Refusal {
	reason := p.Why
	if p.Do != "" {
		reason = "cannot " + p.Do
		if p.Why != "" {
			reason += ": " + p.Why
		}
	}
	return &Refusal{Field: string(p.Field), On: p.On, Reason: reason, Help: p.Help}
}

// These are the states of a record.
const (
	StateRunning = "running"
	StateExited  = "exited"
	StateRefused = "refused"
	StateLost    = "lost" // never written by the run itself
)

func (r *Record) state() string {
	switch {
	case r.Error != nil:
		return StateRefused
	case !r.EndedAt.IsZero():
		return StateExited
	}
	return StateRunning
}
