package wrap

import "sbx/spec"

// State is the answer to a question about a host.
type State uint8

// These are the answers. Unknown means that nobody has tried: the launch then tries, and learns it
// from the step that fails.
const (
	Unknown State = iota
	Yes
	No
)

// Answer is a State and its reason, in words for a person.
type Answer struct {
	State State
	Why   string
}

// Rung is a fallback level: a set of kernel mechanisms that the host may offer. The first that
// works is used.
type Rung uint8

// These are the fallback levels, best first.
const (
	// RungUser has all namespaces, in a user namespace of the sandbox's own, with Landlock and
	// seccomp.
	RungUser Rung = iota
	// RungRoot is the same without a user namespace: for a root with CAP_SYS_ADMIN on a host where
	// a user namespace cannot be made, or cannot mount /proc.
	RungRoot
	// RungBare has only Landlock and seccomp.
	RungBare
	// RungParent relies on what an outer sandbox enforces.
	RungParent
	// RungFree is for a spec that constrains nothing.
	RungFree
)

// Version is a kernel version, as {6, 18}.
type Version [2]int

// Less reports whether v is older than w.
func (v Version) Less(w Version) bool { return v[0] < w[0] || v[0] == w[0] && v[1] < w[1] }

// Kind is the kind of file at a path.
type Kind uint8

// These are the kinds; Absent is the zero value.
const (
	Absent Kind = iota
	Dir
	File
	Socket
	Symlink
	Device
	Other
)

// Found is an entry of a table (a secret, a part of @system, a device) that exists on this host.
type Found struct {
	Path   string     // absolute, as the table names it
	Real   string     // Path without links; equal to Path if it has none
	Kind   Kind       // the kind of Real, and so never Symlink
	Target string     // the text of the link at Path, if Path itself is a link
	Why    string     // the table's reason
	Agent  spec.Agent // the agent whose own secret it is, see defaults.Secret
	Home   bool       // it is another user's home, hidden as a whole
}

// Protected is a path in a writable tree that could later run code on the host, and that exists at
// launch.
type Protected struct {
	Path string // absolute, without links
	Kind Kind
	Why  string
	// Link is true if the name is a symbolic link: its target is protected, but a link cannot be
	// mounted over.
	Link bool
	// Shared is true for a directory that only becomes a mount point (".git" itself) so that the
	// command cannot rename it. It stays writable.
	Shared bool
	// By is the settings file that names it as a program, relative to the top of its tree; "" for a
	// path that is protected by its own name.
	By string
}

// Reason says why it is protected, as the end of a sentence; "" if that is not known.
func (p *Protected) Reason() string {
	switch {
	case p.Why == "":
		return ""
	case p.By == "":
		return ": " + p.Why
	}
	return ", since " + p.By + " names it: " + p.Why
}

// Repository is a git repository found in a writable tree at launch.
type Repository struct {
	Top    string // the working tree; "" for a bare repository
	GitDir string // absolute, without links
	Common string // the common directory; differs from GitDir only for a linked worktree
	// Others are the git directories of the other worktrees of Common. They are read-only inside.
	Others []string
	// Outside is true if Common lies outside of every writable tree and is made writable because
	// the worktree needs it. Common points back to Top, so a command cannot have chosen it by
	// changing the workspace.
	Outside bool
}

// MountPoint is a mount of the host.
type MountPoint struct {
	Path string
	Type string
}

// IDRange is a range of ids that maps onto itself.
type IDRange struct{ First, Count uint32 }

// Stream is one of the caller's standard streams, with its access mode.
type Stream struct {
	FD          int
	Read, Write bool
}

// Host has every fact about the machine and the workspace that a Plan depends on. host.Probe makes
// it, and tests make their own.
type Host struct {
	Kernel  Version
	Release string // "6.18.44"
	Arch    string // "amd64", "arm64"

	Container Engine // the engine of the container that sbx runs in; zero for none that sbx recognises

	UID, GID int
	UIDs     []IDRange // the ids in the caller's own user namespace
	GIDs     []IDRange
	SysAdmin bool // the caller has CAP_SYS_ADMIN
	// Processes is how many processes and threads this machine can have, and Running how many it
	// has; 0 if unknown.
	Processes, Running uint64
	PidMax             Answer // root may set kernel.pid_max of a single pid namespace
	// AuditReader is true if the caller may read the kernel's audit records, and ask whether there
	// are any.
	AuditReader bool

	LandlockABI int
	LandlockWhy string // why LandlockABI is 0
	Seccomp     Answer
	// FreeParent describes an outer sandbox that mounts nothing (Parent.Free); nil for none.
	FreeParent *Parent
	Outer      bool      // an outer sbx answers, and counts for an sbx inside
	Listener   Answer    // a filter may have a listener, and its calls wait even when signals arrive
	Tracer     Answer    // the command may be traced, and its calls stop for the tracer
	Profile    []byte    // the compiled filter of an OCI profile that the spec names; nil for the default filter
	ProfileWhy string    // why the profile that the spec names cannot be used; "" if it can
	Rungs      [3]Answer // by Rung; RungBare is always Yes
	Overlay    Answer    // overlay mounts in a user namespace
	Layer      Answer    // writable overlay mounts in a user namespace
	SetAttr    Answer    // mount_setattr(2), which changes a whole tree of mounts
	Copies     Answer    // the supervisor can copy the command's sockets to connect them itself: pidfd_getfd(2)

	Parent *Parent // describes the outer sandbox; nil for none
	// Groups says where control groups can be made, by Controller. Probe looks for that only if a
	// limit needs one, or if Unbounded.
	Groups [Controllers]GroupHost

	Home string
	// HomeReal is Home without links, if it is a directory, and HomeMode its permission bits. Probe
	// looks for them only if an agent's home becomes a layer.
	HomeReal string
	HomeMode uint32
	// Layers are the directories that a writable private copy may cover. Probe looks for them only
	// in a run that learns writes.
	Layers []Layer
	// State is sbx's own state directory without links, which is private inside; "" for none.
	// StateLinks are the links that lead to it. StateWhy says why sbx could not make it, if it
	// tried.
	State      string
	StateLinks []string
	StateWhy   string
	Secrets    []Found // the default secrets that exist and that the spec does not open
	// SecretsCut says which secrets Probe did not look for, because there are too many homes; "" if
	// it looked for all.
	SecretsCut string
	// DropEnv names the variables that lead to a hidden socket. The command does not get them.
	DropEnv  []string
	System   []Found  // the files of @system on this host
	Keep     []Found  // the entries of /run that stay in view
	Devices  []Found  // the device nodes for a private /dev
	Terminal string   // the caller's terminal, if a standard stream is one
	Streams  []Stream // the caller's standard streams, if files are confined
	ProcRO   []string // names under /proc to make read-only
	ProcMask []string // names under /proc to mask

	Protected []Protected // sorted by path: a directory before its contents
	// Unmade lists protected names that do not exist, like a ".git/hooks" that was removed or a
	// future core.hooksPath. The command must not create them.
	Unmade       []Protected
	Repositories []Repository // those found at launch
	GitDirs      []string     // every git directory that the search looked at, also those of submodules
	Around       []string     // tops of repositories that contain a writable tree, the nearest first
	Worktrees    []Worktree   // linked worktrees in the writable trees that look as git makes them
	Left         []string     // protected names that exist but have no mount on them
	SearchCut    string       // why the search for repositories stopped early; "" if it did not
	NamedCut     string       // why the search for programs that settings name stopped early; "" if it did not
	Sockets      []Found      // pathname sockets in view at launch
	Services     []Found      // sockets of services that can change the host, if files are confined and not private
	Removable    []string     // mount points of removable devices
	Mounts       []MountPoint // the host's mounts, in the order of /proc/self/mountinfo
	Listing      []Listing    // the contents of directories in which a file must be hidden by name

	// Tools are other sandboxing programs on this host, Files and Procs the caller's RLIMIT_NOFILE
	// and RLIMIT_NPROC. They are looked for only to wrap a command for such a tool.
	Tools        []Tool
	Files, Procs Rlimit

	Allow   []Executable // the programs that commands.allow names
	Deny    []Executable // those that commands.deny names: a name for each time that PATH has it
	Loaders []string     // this machine's dynamic loaders, without links

	Paths map[string]Kind // the kinds of other paths that a Plan asks about: /tmp, /run …
	Users []int           // the uids whose /run/user directory is made: the caller's own
}

// Layer is a directory that a private copy may cover.
type Layer struct {
	Dir  string
	Mode uint32 // permission bits
	Why  string // why no copy can cover it
}

// Listing is the content of a directory, sorted by name.
type Listing struct {
	Dir     string
	Mode    uint32 // permission bits
	Entries []Entry
	Cut     bool // the directory has more entries than these
}

// Entry is one name of a Listing.
type Entry struct {
	Name   string
	Kind   Kind   // Symlink for a link
	Target string // the text of a link
}

// Without returns h changed by a launch step that failed: fallback level r does not work here.
// Build then plans for the next level.
func (h Host) Without(r Rung, why string) Host {
	h.Rungs[r] = Answer{No, why}
	return h
}

// Kind returns the kind of file at path, as far as Probe looked.
func (h *Host) Kind(path string) Kind { return h.Paths[path] }
