package dispatch

import "sbx/spec"

// Status is where a dispatch is in its life.
type Status string

// The states of a dispatch, as Intercore calls them.
const (
	Spawned   Status = "spawned" // there is a row, and nothing runs yet
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	TimedOut  Status = "timeout"
	Cancelled Status = "cancelled"
)

// Ended tells whether a status is a terminal one, which never changes.
func (s Status) Ended() bool {
	switch s {
	case Completed, Failed, TimedOut, Cancelled:
		return true
	}
	return false
}

// endedList is the terminal states as SQL writes a list.
const endedList = "('completed', 'failed', 'timeout', 'cancelled')"

// Dispatch is one row. What is absent is NULL, or a column that the ledger does
// not have.
type Dispatch struct {
	ID         string
	AgentType  string
	Status     Status
	ProjectDir string

	PromptFile  spec.Opt[string]
	PromptHash  spec.Opt[string]
	OutputFile  spec.Opt[string]
	VerdictFile spec.Opt[string]
	PID         spec.Opt[int64]
	ExitCode    spec.Opt[int64]
	Name        spec.Opt[string]
	Model       spec.Opt[string]

	Sandbox          spec.Opt[string] // a mode; superseded by an access_mode of SandboxSpec
	SandboxSpec      spec.Opt[string] // as it was given, byte for byte
	SandboxEffective spec.Opt[string] // the record at the end
	TimeoutSec       spec.Opt[int64]

	Turns        spec.Opt[int64]
	Commands     spec.Opt[int64]
	Messages     spec.Opt[int64]
	InputTokens  spec.Opt[int64]
	OutputTokens spec.Opt[int64]
	CacheHits    spec.Opt[int64]

	CreatedAt   spec.Opt[int64] // seconds since 1970, as all times here
	StartedAt   spec.Opt[int64]
	CompletedAt spec.Opt[int64]

	VerdictStatus  spec.Opt[string]
	VerdictSummary spec.Opt[string]
	ErrorMessage   spec.Opt[string]

	ScopeID          spec.Opt[string]
	ParentID         spec.Opt[string]
	BaseRepoCommit   spec.Opt[string]
	RetryCount       spec.Opt[int64]
	ConflictType     spec.Opt[string]
	QuarantineReason spec.Opt[string]
	SpawnDepth       spec.Opt[int64]
	ParentDispatchID spec.Opt[string]
}
