package spec

import (
	"slices"

	"sbx/internal/reach"
)

// Resolved is a spec with everything that follows from the document alone: defaults that an access
// mode implies, absolute paths without links, the command's environment. It depends on the host
// only through the paths that the spec names (Inputs.Paths). A wrap.Host describes which rules the
// host can enforce.
type Resolved struct {
	Spec *SandboxSpec
	in   Inputs // the Inputs with which the spec was resolved

	AccessMode AccessMode // AccessUnset if no document sets it
	Home       string     // absolute; "" if the caller has none
	WorkingDir Path       // where the command starts, unless start is set
	// start is where the command starts instead of WorkingDir: inside another sandbox, if the
	// document inherits the outer workspace. "" for WorkingDir.
	start string
	// listed is true if a document that narrows the workshop's has a list of writable paths without
	// the workshop's tree.
	listed bool
	// bounds are the documents that a spec cannot widen, each with what it allows: profiles and the
	// files of a workshop and its workers.
	bounds []bound

	// Confined is true if the command may write only private directories, explicit mounts and the
	// paths of Write. It follows from an access_mode other than danger-full-access, readonly,
	// filesystem.read or write, a workshop, or the job layout.
	Confined bool
	// ReadOnly is true if Confined is and neither the working directory nor a workshop's tree may
	// be written.
	ReadOnly bool
	// Visible is true if only the paths that the spec names are in view (filesystem.read, a
	// workshop, the job layout). Otherwise the whole host is.
	Visible bool
	// System is true if @system is in view.
	System bool
	// Private is true if /tmp, /var/tmp, /dev/shm and /run are private, the default secrets are
	// hidden and the protected names are protected. It follows from an access_mode other than
	// danger-full-access, or from filesystem.read.
	Private bool
	// FileRules is true if any rule constrains files.
	FileRules bool
	// SideDoors is true if the side doors are closed. Any rule about files, the network, syscalls
	// or commands implies it.
	SideDoors bool

	Read   []Path // in the document's order, without @system
	Write  []Path // begins with the working directory or the workshop, if that is writable
	Hide   []Path // a name at any depth is replaced by the paths with that name
	Mounts []MountAt
	// HideCut is the reason why the search for names of filesystem.hide was incomplete; "" if it
	// was complete.
	HideCut string
	// Presets are the "@" items in the lists of filesystem. Absent are the directories of writable
	// presets that do not exist.
	Presets []PresetAt
	Absent  []Path
	// Globs are the "**/name" entries of filesystem.write: protected names that the command may
	// create or write at any depth.
	Globs []string
	// Earlier are more directories in which links open no secret: those that readonly makes
	// read-only, and the working directories of the documents that this one narrows.
	Earlier []string
	// Tops are directories to which protected names are relative, because they are in a document
	// that this one narrows: its workspace, and the sources of its mounts.
	Tops []string

	Network NetworkMode // never NetworkUnset
	Reach   reach.Reach // the endpoints that may be reached under NetworkAllow, with sets expanded
	// Agent is the command's agent, unset for other commands. AgentNetwork is true if Reach is the
	// hosts of the agent's model, because no document says otherwise and the agent could not reach
	// its model without them.
	Agent        Agent
	AgentNetwork bool
	// Own are the paths that the agent itself needs. They are in view, and writable according to
	// their mode, regardless of the lists. HomeLayer is true if the agent's home is a private layer
	// over the caller's: files that the agent writes there, except those of Own, are dropped when
	// the sandbox ends.
	Own       []OwnPath
	HomeLayer bool
	// Learn is true if the command may also write all other readable paths, in a private copy.
	Learn  bool
	Listen []reach.Listen

	// Limited is true if commands.allow is present: only programs that Allow names may be started.
	// Deny overrides Allow.
	Limited bool
	Allow   []ProgramAt
	Deny    []ProgramAt

	Env     []string // the command's environment, NAME=value, in the caller's order
	Dropped []string // names of the caller's variables that the command does not get
	Passed  []string // names of the variables that it gets

	Broker BrokerAt

	Syscalls string // "default" or the path of a profile, without links
	// MoreSyscalls are additional filters in the form of Syscalls: those of the documents that this
	// one narrows.
	MoreSyscalls []string
	Job          *Job // the --input/--output layout; nil otherwise

	// Root is sandbox.root, and Restricted the subtree of it that restrict leaves (Root itself
	// without restrict). Both are zero without a workshop. The entries of Root are also in view at
	// their virtual paths, "/src" for Root/src.
	Root       Path
	Restricted Path
	// Orphan is true for a restrict without a Root that best_effort accepts.
	Orphan bool

	BestEffort []Field // fields that may be degraded; "*" for all
	NotYet     []Field // fields that are set but that sbx cannot enforce yet
	Notes      []Note  // decisions of Resolve that a record's line should mention
}

// Start returns the directory in which the command starts.
func (r *Resolved) Start() string {
	if r.start != "" {
		return r.start
	}
	return r.WorkingDir.Real
}

// WritesWorkDir reports whether the working directory is itself a writable path, not only a part of
// one.
func (r *Resolved) WritesWorkDir() bool {
	for i := range r.Write {
		if w := &r.Write[i]; w.Exists && w.IsDir && w.Real == r.WorkingDir.Real {
			return true
		}
	}
	return false
}

// Path is a path that a spec names.
type Path struct {
	Asked  string // as written
	Abs    string // absolute and clean, with links unresolved
	Real   string // Abs with all links resolved, as far as the path exists
	Links  []Link // the links on the way, in order
	Exists bool
	IsDir  bool
	Field  Field  // "filesystem.write[0]": the field that names it; "" for an implied path
	At     string // "spec.json:4:12"; "" for an implied path
}

// Link is a symbolic link found while a path was resolved: Path contains Target.
type Link struct{ Path, Target string }

// MountAt is a mount of the spec with its source resolved.
type MountAt struct {
	Mount
	Source Path   // zero for a tmpfs
	Target string // absolute, clean
	Field  Field  // "filesystem.mounts[1]"
	At     string
}

// Job is the layout of --input and --output: these directories are in view at /input (read-only)
// and /output, together with an empty, writable /work.
type Job struct {
	Input  Path // zero if not given
	Output Path // zero if not given
}

// Note is a sentence for the record's line of Field.
type Note struct {
	Field Field
	Text  string
}

// AllowsLess reports whether best_effort accepts weaker enforcement of field than requested.
// "limits" in best_effort covers "limits.memory", "*" covers all.
func (r *Resolved) AllowsLess(field Field) bool {
	return slices.ContainsFunc(r.BestEffort, func(b Field) bool {
		return b == "*" || b == field || len(field) > len(b) && field[:len(b)] == b && field[len(b)] == '.'
	})
}
