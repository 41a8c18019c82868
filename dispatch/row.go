package dispatch

import "sbx/spec"

// Status is the state of a dispatch.
type Status string

// The states of a dispatch, with Intercore's names.
const (
	Spawned   Status = "spawned" // the row exists, but no process yet
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	TimedOut  Status = "timeout"
	Cancelled Status = "cancelled"
)

// Ended reports whether a status is terminal. A terminal status never changes.
func (s Status) Ended() bool {
	switch s {
	case Completed, Failed, TimedOut, Cancelled:
		return true
	}
	return false
}

// endedList is the list of the terminal states in SQL.
const endedList = "('completed', 'failed', 'timeout', 'cancelled')"

// Dispatch is one row. An absent value is NULL, or its column is missing in the ledger.
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

	Sandbox          spec.Opt[string] // an access mode; that of SandboxSpec takes precedence
	SandboxSpec      spec.Opt[string] // byte for byte as it was given
	SandboxEffective spec.Opt[string] // the record, set at the end
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
