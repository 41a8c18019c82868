package wrap

import "sbx/spec"

// State is the answer to a question about a host.
type State uint8

// The answers. Unknown means that nobody has tried: a launch then tries, and
// learns from the step that fails.
const (
	Unknown State = iota
	Yes
	No
)

// Answer is a State with the reason for it, in words for a person.
type Answer struct {
	State State
	Why   string
}

// Rung is a step of the ladder of mechanisms, taken from the top by what the
// host has.
type Rung uint8

// The rungs, best first.
const (
	// RungUser is all namespaces in a user namespace of the sandbox's own,
	// with Landlock and seccomp.
	RungUser Rung = iota
	// RungRoot is the same without a user namespace, for a root that has
	// CAP_SYS_ADMIN where a user namespace cannot be had or cannot mount /proc.
	RungRoot
	// RungBare is Landlock and seccomp alone.
	RungBare
	// RungParent is what an outer sandbox holds already.
	RungParent
	// RungFree is a spec that constrains nothing.
	RungFree
)

// Version is a kernel version, as {6, 18}.
type Version [2]int

// Less reports whether v is older than w.
func (v Version) Less(w Version) bool { return v[0] < w[0] || v[0] == w[0] && v[1] < w[1] }

// Kind is what stands at a path.
type Kind uint8

// The kinds; Absent is the zero value.
const (
	Absent Kind = iota
	Dir
	File
	Socket
	Symlink
	Device
	Other
)

// Found is something of a table (a secret, a part of @system, a device) that
// stands on this host.
type Found struct {
	Path   string     // absolute, as it is called
	Real   string     // Path with links resolved; equal to Path where there is none
	Kind   Kind       // of Real; Symlink is never the kind of Real
	Target string     // what the link at Path says, where Path itself is a link
	Why    string     // the table's reason
	Agent  spec.Agent // whose own secret it is, see Secret
	Home   bool       // another user's home, hidden whole
}

// Protected is a name in a writable tree that makes the host run something
// later, standing there at launch.
type Protected struct {
	Path string // absolute, links resolved
	Kind Kind
	Why  string
	// Link is true where the name itself is a symbolic link: its target is
	// protected, the link cannot be mounted over.
	Link bool
	// Shared is true for a directory that is only made a mount point (".git"
	// itself), so that it cannot be renamed away, and stays writable.
	Shared bool
	// By is the settings file that names it, as seen from the top of its directory;
	// "" for what is protected by its own name.
	By string
}

// Reason is why it is protected, as the end of a sentence; "" where that is not known.
func (p *Protected) Reason() string {
	switch {
	case p.Why == "":
		return ""
	case p.By == "":
		return ": " + p.Why
	}
	return ", since " + p.By + " names it: " + p.Why
}

// Repository is a git repository met in a writable tree at launch.
type Repository struct {
	Top    string // the working tree; "" for a bare one
	GitDir string // absolute, links resolved
	Common string // the common directory; equal to GitDir but for a linked worktree
	// Others are the git directories of a common directory's other worktrees, which
	// are read-only inside.
	Others []string
	// Outside is true when Common lies outside every writable tree and is
	// made writable because the worktree needs it: Common itself points back
	// to Top, so that the workspace did not choose it.
	Outside bool
}

// MountPoint is a mount of the host.
type MountPoint struct {
	Path string
	Type string
}

// IDRange is a range of ids mapped onto itself.
type IDRange struct{ First, Count uint32 }

// Stream is a standard stream of the caller's, and what it is open for.
type Stream struct {
	FD          int
	Read, Write bool
}

// Host is every fact of machine and workspace that a Plan depends on.
// host.Probe makes it; tests make their own.
type Host struct {
	Kernel  Version
	Release string // "6.18.44"
	Arch    string // "amd64", "arm64"

	Container Engine // whose container this is; the zero Engine for none that is known

	UID, GID int
	UIDs     []IDRange // the ids that the caller's own user namespace has
	GIDs     []IDRange
	SysAdmin bool // the caller has CAP_SYS_ADMIN
	// Processes is how many processes and threads this machine can have, and Running
	// how many it has; 0 where that is not known.
	Processes, Running uint64
	PidMax             Answer // root may set kernel.pid_max of a pid namespace alone
	// AuditReader: the caller may read the kernel's audit records, and ask whether
	// there are any.
	AuditReader bool

	LandlockABI int
	LandlockWhy string // why LandlockABI is 0
	Seccomp     Answer
	// FreeParent is what an outer sandbox holds that mounts nothing (Parent.Free); nil
	// where there is none.
	FreeParent *Parent
	Outer      bool      // an outer sbx answers, and counts for those inside
	Listener   Answer    // a filter may have a listener, and signals leave its calls waiting
	Tracer     Answer    // the command may be traced, and its calls stop for the tracer
	Profile    []byte    // the compiled filter of an OCI profile that the spec names; nil for the default
	ProfileWhy string    // why the profile that the spec names cannot be used; "" where it can
	Rungs      [3]Answer // by Rung; RungBare is always Yes
	Overlay    Answer    // overlay mounts in a user namespace
	Layer      Answer    // such overlays that can be written
	SetAttr    Answer    // mount_setattr(2), which changes a tree of mounts at once
	Copies     Answer    // a socket of the command's can be copied, to rule on its connects: pidfd_getfd(2)

	Parent *Parent // what an outer sandbox holds; nil where there is none
	// Groups is where control groups can be made, by Controller; looked at only
	// where a limit asks for one, or Unbounded.
	Groups [Controllers]GroupHost

	Home string
	// HomeReal is Home with links resolved, where it is a directory, and HomeMode its
	// permission bits; looked at only where an agent's home is a layer.
	HomeReal string
	HomeMode uint32
	// Layers are the directories over which a private copy lies that can be written; looked
	// for only where what a command writes is learned.
	Layers []Layer
	// State is sbx's own state directory, links resolved, a private one inside; "" for
	// none. StateLinks are the links on the way to it, StateWhy why it is not there,
	// where sbx has tried to make it.
	State      string
	StateLinks []string
	StateWhy   string
	Secrets    []Found // the default secrets that exist and that the spec opens none of
	// SecretsCut says which secrets were not looked for, where there are too
	// many homes; "" where all were.
	SecretsCut string
	// DropEnv names the variables that lead to a hidden socket; the command
	// does not get them.
	DropEnv  []string
	System   []Found  // what @system is here
	Keep     []Found  // what of /run stays in view
	Devices  []Found  // the device nodes of a private /dev
	Terminal string   // the caller's terminal, if a standard stream is one
	Streams  []Stream // the caller's standard streams, where files are confined
	ProcRO   []string // names under /proc that are made read-only
	ProcMask []string // names under /proc that are masked

	Protected []Protected // in the order of their paths: a directory before what is in it
	// Unmade is what is protected and does not exist: ".git/hooks" where it
	// was removed, a future core.hooksPath. It must not be created.
	Unmade       []Protected
	Repositories []Repository // known at launch
	GitFolders   []string     // every git directory that the search looked at, submodules' too
	Around       []string     // tops of repositories that a writable tree lies in, the nearest first
	Worktrees    []Worktree   // linked worktrees that are as git makes them, in the writable trees
	Left         []string     // protected names that were there and are not mounted on
	SearchCut    string       // why the search for repositories was cut; "" if it was not
	NamedCut     string       // why not all programs that settings name were looked for; "" if they were
	Sockets      []Found      // pathname sockets in view at launch
	Services     []Found      // those of services by which the host can be changed, where files are confined and not private
	Removable    []string     // mount points of removable devices
	Mounts       []MountPoint // the host's mounts, in the order of /proc/self/mountinfo
	Listing      []Listing    // of directories in which a file must be hidden by name

	// Tools are the sandboxes of others that this host has, Files and Procs the
	// caller's RLIMIT_NOFILE and RLIMIT_NPROC. Only who wraps a command for one looks
	// for them.
	Tools        []Tool
	Files, Procs Rlimit

	Allow   []Executable // what commands.allow names
	Deny    []Executable // and commands.deny: a name as often as PATH has it
	Loaders []string     // this machine's dynamic loaders, links resolved

	Paths map[string]Kind // kinds of further paths that a Plan asks for: /tmp, /run …
	Users []int           // uids whose /run/user directory is made; the caller's own
}

// Layer is a directory over which a private copy may lie.
type Layer struct {
	Dir  string
	Mode uint32 // permission bits
	Why  string // why there can be none
}

// Listing is the content of a directory, in name order.
type Listing struct {
	Dir     string
	Mode    uint32 // permission bits
	Entries []Entry
	Cut     bool // there are more entries than these
}

// Entry is one name of a Listing.
type Entry struct {
	Name   string
	Kind   Kind   // Symlink for a link
	Target string // what a link says
}

// Without returns the host as it is known after a launch step showed that a
// rung cannot be held here: Build then plans from the next one.
func (h Host) Without(r Rung, why string) Host {
	h.Rungs[r] = Answer{No, why}
	return h
}

// Kind tells what stands at path, as far as Probe looked.
func (h *Host) Kind(path string) Kind { return h.Paths[path] }
