package spec

import (
	"time"

	"sbx/internal/reach"
)

// SandboxSpec is one document as written: every field of the contract, absent or set, without
// defaults. It is never changed once decoded. docs/reference/spec.md documents the fields for
// writers of specs.
type SandboxSpec struct {
	ToolsAllowed Opt[[]string]
	ToolsDenied  Opt[[]string]
	WorkingDir   Opt[string]
	AccessMode   Opt[AccessMode]
	MaxTurns     Opt[int]
	MaxCommands  Opt[int]

	Profile  Opt[Profile]
	Sandbox  Opt[Workshop]
	Restrict Opt[string]
	Readonly Opt[bool]

	Filesystem  Opt[Filesystem]
	Network     Opt[Network]
	Environment Opt[Environment]
	Commands    Opt[Commands]
	Limits      Opt[Limits]
	Syscalls    Opt[string]
	Broker      Opt[Broker]

	OnExceed         Opt[OnExceed]
	BestEffort       Opt[[]string]
	RequireAvailable Opt[bool]
	Agent            Opt[Agent]

	// Source says where the document came from; it is not part of the spec.
	Source Source
}

// Workshop holds the fields of a workshop: the tree that restrict's paths are relative to.
type Workshop struct {
	Root     Opt[string]
	Readonly Opt[bool]
}

// Filesystem determines which host files the command can see, and which it can write.
type Filesystem struct {
	Read   Opt[[]string]
	Write  Opt[[]string]
	Hide   Opt[[]string]
	Mounts Opt[[]Mount]
}

// Mount puts Source at Target inside the sandbox. A tmpfs has no Source.
type Mount struct {
	Label  string
	Source string
	Target string
	Mode   MountMode
}

// Network determines to which hosts the command may connect and which ports it publishes.
type Network struct {
	Mode   Opt[NetworkMode]
	Allow  Opt[[]string]
	Listen Opt[[]reach.Listen]
}

// Environment determines which variables the command gets.
type Environment struct {
	Pass Opt[[]string]
	Set  Opt[map[string]string]
}

// Commands determines which programs may be started.
type Commands struct {
	Allow Opt[[]string]
	Deny  Opt[[]string]
}

// Limits bound the whole tree; OpenFiles alone is per process.
type Limits struct {
	Memory    Opt[Bytes]
	CPUs      Opt[float64]
	PIDs      Opt[int]
	OpenFiles Opt[int]
	FileSize  Opt[Bytes]
	Timeout   Opt[time.Duration]
}

// MostPIDs is the maximum number of processes in a sandbox whose spec has no limits.pids.
const MostPIDs = 16384

// Broker configures the broker, which runs tools for the command outside of the sandbox.
type Broker struct {
	File  Opt[string]   // the broker's document
	Plan  Opt[string]   // the steps that the broker enforces
	Grant Opt[[]string] // capabilities in addition to the sandbox's own
}

// Bytes is a size in bytes, written "2GiB", "100MiB" or a plain number.
type Bytes int64

// Source is a document's origin, with the positions of its values.
type Source struct {
	Name string // as given: a path, "-" or "--spec-json"
	Dir  string // absolute directory to which working_dir is relative
	Root *Node  // the document itself; nil for a spec made in Go
	Kind SourceKind
}

// SourceKind is the kind of file that a document came from.
type SourceKind uint8

// The kinds of files. All paths in a workshop's file must lie within its directory, and so must
// those in an old-style worker's file, which replaces a workshop's.
const (
	SpecFile SourceKind = iota
	WorkshopFile
	WorkerFile
	OldWorkerFile
	AgentDefinition
	ProfileEntry
	AgentOptions // the options that the caller gave to an agent; there is no file
)
