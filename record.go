package sbx

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"sbx/spec"
)

// Record is the effective record of a command: what was requested, what was enforced, what
// was used and what was denied. A value that nobody could observe is nil or "", never 0.
// docs/reference/record.md explains each key; JSON also has the keys that are no field
// here.
type Record struct {
	ID        string    `json:"id"`
	State     string    `json:"state"` // "exited", "refused", or "lost" if sbx was killed
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at"` // zero if the state is "lost"
	Command   Line      `json:"command"`
	Warnings  []string  `json:"warnings"`

	// AccessMode is the mode that was enforced, not the requested one; "" if files were not
	// restricted.
	AccessMode  string        `json:"access_mode"`
	Enforcement []Enforcement `json:"enforcement"`

	CommandsUsed      *int        `json:"commands_used"` // programs that were started
	Commands          *Commands   `json:"commands"`
	TurnsUsed         *int        `json:"turns_used"` // only of a known agent
	ToolsUsed         []string    `json:"tools_used"`
	Violations        []Violation `json:"violations"`
	ViolationsOmitted int         `json:"violations_omitted"` // further violations that are not listed
	// ObservedKinds are the kinds of violations that this run could observe.
	ObservedKinds []string `json:"observed_kinds"`
	// Swept are protected files that the command created and that were moved away.
	Swept []Swept `json:"swept"`

	Exit  Exit     `json:"exit"`
	Usage Usage    `json:"usage"`
	Error *Refused `json:"error"` // set if the command did not start

	// JSON is the record as sbx wrote it.
	JSON []byte `json:"-"`
}

// Line is a command as it was started. Arguments that look like credentials are redacted.
type Line struct {
	Argv       []string `json:"argv"`
	Cwd        string   `json:"cwd"`
	Executable string   `json:"executable"`
}

// Enforcement says how one field of the spec was enforced.
type Enforcement struct {
	Field  string `json:"field"`
	Asked  string `json:"asked"`
	Status string `json:"status"` // "enforced", "guarded", "degraded", "observed" or "unavailable"
	By     string `json:"by"`     // the mechanisms
	Reason string `json:"reason"`
}

// Commands is the count of programs.
type Commands struct {
	By        string         `json:"by"` // the counter
	Attempted int            `json:"attempted"`
	Started   int            `json:"started"`
	Refused   int            `json:"refused"`
	Programs  []ProgramCount `json:"programs"` // the most frequent ones
}

// ProgramCount is how often a program was started.
type ProgramCount struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Violation is an act that was denied, or that should have been.
type Violation struct {
	Kind      string    `json:"kind"` // "filesystem", "network", "command", "syscall", "limit" or "tool"
	At        time.Time `json:"at"`   // the time of the first one
	PID       int       `json:"pid"`
	Program   string    `json:"program"`
	Action    string    `json:"action"`
	Target    string    `json:"target"`
	Rule      string    `json:"rule"`       // the line of the spec that denied it
	AllowWith string    `json:"allow_with"` // the line that would allow it
	Opens     string    `json:"opens"`      // the directory that this line would open, if that is more than Target
	Count     int       `json:"count"`
}

// Swept is a protected file that the command created and that was moved away.
type Swept struct {
	Path    string `json:"path"`
	MovedTo string `json:"moved_to"`
	Kind    string `json:"kind"`
	Reason  string `json:"reason"`
}

// Exit is how the command ended.
type Exit struct {
	Code   *int `json:"code"`   // the exit status of sbx exec
	Signal int  `json:"signal"` // the signal that ended the command; 0 for none
	// EndedBy is "command", "signal", "timeout", "max_commands", "max_turns",
	// "tool", "memory", "broker" or "supervisor".
	EndedBy string `json:"ended_by"`
}

// Usage is the resource usage of the command and all processes that it started.
type Usage struct {
	WallMS          *int64 `json:"wall_ms"`
	UserMS          *int64 `json:"user_ms"`
	SystemMS        *int64 `json:"system_ms"`
	MaxRSSBytes     *int64 `json:"max_rss_bytes"`     // the largest process
	MemoryPeakBytes *int64 `json:"memory_peak_bytes"` // the maximum of all processes together
	ReadBytes       *int64 `json:"read_bytes"`
	WrittenBytes    *int64 `json:"written_bytes"`
}

const (
	recordVersion = 1
	maxRecord     = 32 << 20
)

// readRecord reads the record of a run that has ended. If nothing was restricted, the
// command may have replaced the file: the read is bounded and never blocks.
func readRecord(path string) (*Record, error) {
	fd, err := spec.OpenPlain(path)
	if err != nil {
		return nil, fmt.Errorf("sbx: no record was left: %w", err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err != nil {
		return nil, fmt.Errorf("sbx: cannot read the record: %w", err)
	}
	var file struct {
		Version int `json:"record_version"`
		Record
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("sbx: cannot read the record: %w", err)
	}
	if file.Version != recordVersion {
		return nil, fmt.Errorf("sbx: a record of version %d; this package reads %d", file.Version, recordVersion)
	}
	if file.State == "running" { // although sbx has ended
		file.State = "lost"
	}
	file.JSON = text
	return &file.Record, nil
}
