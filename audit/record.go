package audit

import (
	"time"

	"sbx/audit/agent"
	"sbx/spec"
	"sbx/wrap"
)

// recordVersion grows when a key changes its meaning; new keys leave it.
const recordVersion = 1

// maxArgv is how many arguments of a command a record keeps.
const maxArgv = 1000

// Record is the effective record as a value. It is written once before the
// command starts and once when it has ended; what is zero or absent in it is
// absent in the file, so that nothing is said that nobody observed. Its state
// is never set: a record with an Error is "refused", one with an EndedAt
// "exited", any other "running".
type Record struct {
	ID         string
	Supervisor Process
	StartedAt  time.Time
	EndedAt    time.Time
	Version    string // of sbx
	Command    Command

	Documents []*spec.SandboxSpec // in the order in which they narrow each other
	Sources   []string            // their names, also of those that could not be read
	Resolved  *spec.Resolved      // nil when a refusal came before it

	Profile  Profile        // the profile that holds; zero for none
	Warnings []spec.Warning // what a person was warned of

	Agent         *agent.Summary // what its own stream said; nil where none was read
	ToolsUsed     spec.Opt[[]string]
	AccessMode    spec.AccessMode // what held; AccessUnset when nothing was constrained
	TurnsUsed     spec.Opt[int]
	Commands      spec.Opt[Commands] // what was counted, commands_used with it
	Timeline      *Timeline          // the programs that were started; nil where nobody counted
	Opened        *Openings          // nil where nobody looked
	Violations    Violations
	Connections   *Connections // that a relay made; nil where there was none
	Broker        *Broker      // nil where none ran tools
	ObservedKinds []string     // the kinds of violations that could be seen at all
	ObservedFiles []string     // which of the kind filesystem

	Backend     Backend // of another tool; zero for sbx alone
	Enforcement []wrap.Enforcement
	Host        *wrap.Host
	Rung        spec.Opt[wrap.Rung]

	Exit  Exit
	Usage Usage

	Artifacts        spec.Opt[[]Artifact] // set with --output
	ArtifactsOmitted int
	Protected        []Change
	Swept            spec.Opt[Swept] // set when the sweep has run

	Container *Container // of an engine's; nil for a command

	Error *Refusal
}

// Backend is the tool that held the sandbox, where one was asked for.
type Backend struct {
	Asked   string
	Used    string // Asked, "native", or "none" where nothing was held at all
	Version string // as the tool tells it
	Image   string
	Reason  string // why Used is not Asked
	// Unseen is what could not be seen of the run: commands, refusals, usage.
	Unseen []string
}

// Profile is the profile that holds, and why.
type Profile struct {
	Name string
	Why  []string
	Off  bool // one was asked for, and profiles are switched off
}

// Command is what ran. Argv and Asked are redacted when the record is written.
type Command struct {
	Argv       []string
	Asked      []string // what was typed, where sbx changed it
	Cwd        string
	Executable string
}

// Exit is how the command ended.
type Exit struct {
	Code    spec.Opt[int] // the exit status of sbx exec
	Signal  spec.Opt[int] // the signal that ended the command
	EndedBy string        // command, signal, timeout, max_commands, max_turns, tool, memory, broker, supervisor
}

// Usage is what the whole tree used.
type Usage struct {
	WallMS   spec.Opt[int64]
	UserMS   spec.Opt[int64]
	SystemMS spec.Opt[int64]
	MaxRSS   spec.Opt[int64] // bytes, of the largest process
	// MemoryPeak is the most that all processes had at once, page cache and
	// tmpfs included, where a memory cgroup tells.
	MemoryPeak spec.Opt[int64]
	// Read and Written are bytes that went to and from storage, not the page
	// cache, by the processes that were waited for.
	Read    spec.Opt[int64]
	Written spec.Opt[int64]
}

// Refusal is why a command did not start.
type Refusal struct{ Field, On, Reason, Help string }

// Change is what happened to a protected file while the command ran. A digest
// is the sha256 of its content in hex; "" where there was no file to read.
type Change struct {
	Path         string
	DigestBefore string
	DigestAfter  string
	Events       []Notice
	Omitted      int           // further events
	Unprotected  time.Duration // how long it lacked its mount in all
	Bare         bool          // it did so to the end
	Why          string        // why it was not mounted again
}

// Refused is a spec's problem as a record has it.
func Refused(p *spec.Problem) *Refusal {
	reason := p.Why
	if p.Do != "" {
		reason = "cannot " + p.Do
		if p.Why != "" {
			reason += ": " + p.Why
		}
	}
	return &Refusal{Field: string(p.Field), On: p.On, Reason: reason, Help: p.Help}
}

// The states of a record.
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
