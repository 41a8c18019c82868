package spec

import (
	"slices"

	"sbx/internal/reach"
)

// Resolved is a spec with everything filled in that follows from the document
// alone: defaults that an access mode implies, absolute paths with links
// resolved, the command's environment. It depends on the host only through
// the paths that the spec names (Inputs.Paths); what the host can enforce is
// wrap.Host's matter.
type Resolved struct {
	Spec *SandboxSpec
	in   Inputs // with which it was resolved

	AccessMode AccessMode // AccessUnset if no document sets it
	Home       string     // absolute; "" if the caller has none
	WorkingDir Path       // where the command starts, unless start is set
	// start is where the command starts instead of WorkingDir: inside another sandbox, if the
	// document inherits the outer workspace. "" for WorkingDir.
	start string
	// listed is true if a document that narrows the workshop's has a list of writable paths without
	// the workshop's tree.
	listed bool
	// bounds are the documents that a spec cannot widen, with what they leave: profiles and the
	// files of a workshop and its workers.
	bounds []bound

	// Confined is true when nothing but private directories, explicit mounts and
	// what Write names may be written: an access_mode other than
	// danger-full-access, readonly, filesystem.read or write, a workshop, the
	// job layout.
	Confined bool
	// ReadOnly is true when Confined and neither the working directory nor a
	// workshop's tree is among what may be written.
	ReadOnly bool
	// Visible is true when only what is named is in view (filesystem.read
	// present, a workshop, the job layout); false: the whole host is.
	Visible bool
	// System is true when @system is among what is in view.
	System bool
	// Private is true when /tmp, /var/tmp, /dev/shm and /run are private, the
	// default secrets hidden and the protected names kept: an access_mode
	// other than danger-full-access, or filesystem.read, is present.
	Private bool
	// FileRules is true when any rule constrains files.
	FileRules bool
	// SideDoors is true when the side doors are shut: any file or network
	// rule, syscalls, or a rule about commands is present.
	SideDoors bool

	Read   []Path // in the order of the document, @system taken out
	Write  []Path // the working directory or workshop first where it is writable
	Hide   []Path // a name at any depth is the paths that have it
	Mounts []MountAt
	// HideCut says why the search for names of filesystem.hide was incomplete; "" if it was not.
	HideCut string
	// Presets are the "@" items in the lists of filesystem, and Absent the directories of
	// writable ones that do not exist.
	Presets []PresetAt
	Absent  []Path
	// Globs are the "**/name" entries of filesystem.write: protected names
	// that may come into being or be written at any depth.
	Globs []string
	// Earlier are more directories whose links open no secret: what readonly keeps from
	// being written, and what commands work in of the documents that this one narrows.
	Earlier []string
	// Tops are directories from which protected names count since they do so in a
	// document that this one narrows: its workspace, and what its mounts show.
	Tops []string

	Network NetworkMode // never NetworkUnset
	Reach   reach.Reach // what may be reached under NetworkAllow, sets written out
	// Agent is the agent that the command is known to be, unset for any other,
	// and AgentNetwork tells that Reach is its model's hosts because no
	// document says otherwise and it could not reach its model without one.
	Agent        Agent
	AgentNetwork bool
	// Own is what that agent needs of its own, in view and writable by its mode
	// whatever the lists say. HomeLayer tells that its home is a private layer
	// over the caller's: what it writes there beside Own ends with the sandbox.
	Own       []OwnPath
	HomeLayer bool
	// Learn tells that all other readable paths can be written too, in a private copy.
	Learn  bool
	Listen []reach.Listen

	// Limited is true when commands.allow is present: nothing but what Allow
	// names may be started. Deny wins over it.
	Limited bool
	Allow   []ProgramAt
	Deny    []ProgramAt

	Env     []string // the command's environment, NAME=value, in caller's order
	Dropped []string // names of the caller's variables kept from the command
	Passed  []string // names of the variables it gets

	Broker BrokerAt

	Syscalls string // "default" or the path of a profile, links resolved
	// MoreSyscalls are the further lists that apply as well, each as Syscalls:
	// those of the documents that this one narrows.
	MoreSyscalls []string
	Job          *Job // the --input/--output layout; nil otherwise

	// Root is sandbox.root and Restricted the subtree that restrict leaves of
	// it (Root itself without one); both zero without a workshop. What lies directly
	// in Root is also in view at its virtual path, "/src" for Root/src.
	Root       Path
	Restricted Path
	// Orphan is true for a restrict without a Root that best_effort lets be.
	Orphan bool

	BestEffort []Field // fields that may be degraded; "*" for all
	NotYet     []Field // fields that are set and whose enforcement does not exist yet
	Notes      []Note  // what Resolve decided and a record's line should say
}

// Start is the directory in which the command starts.
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
	Abs    string // absolute and clean, links as they stand
	Real   string // Abs with every link resolved, as far as it exists
	Links  []Link // the links met on the way, in order
	Exists bool
	IsDir  bool
	Field  Field  // "filesystem.write[0]": where it comes from; "" for implied
	At     string // "spec.json:4:12"; "" for implied
}

// Link is a symbolic link met while a path was resolved: Path holds Target.
type Link struct{ Path, Target string }

// MountAt is a mount of the spec with its source resolved.
type MountAt struct {
	Mount
	Source Path   // zero for a tmpfs
	Target string // absolute, clean
	Field  Field  // "filesystem.mounts[1]"
	At     string
}

// Job is the layout of --input and --output: what they name is in view at
// /input (read-only) and /output, beside an empty, writable /work.
type Job struct {
	Input  Path // zero when not given
	Output Path // zero when not given
}

// Note is one sentence for the record's line of Field.
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
