package wrap

import (
	"sbx/internal/view"
	"sbx/landlock"
	"sbx/seccomp"
	"sbx/spec"
)

// Base is the source of the sandbox's root directory.
type Base uint8

// These are the bases.
const (
	// BaseHost leaves the mounts as they are: no mount namespace.
	BaseHost Base = iota
	// BasePlace is the host's root, in place in a mount namespace of the sandbox's own, with mounts
	// laid over it. It may be read-only.
	BasePlace
	// BaseEmpty is an empty tmpfs into which only the paths that the spec names are bound.
	BaseEmpty
)

// Namespace is a kind of Linux namespace.
type Namespace uint8

// These are the namespaces, in the order in which a Plan lists them.
const (
	UserNS Namespace = iota
	MountNS
	PidNS
	NetNS
	IPCNS
	UTSNS
	CgroupNS
)

// Plan lists as data everything that a launch does, in order. Build makes it from a Resolved and a
// Host, and package launch carries it out. It prints as JSON.
type Plan struct {
	Opening
	Command Command
	Base    Base
	Mounts  []Mount
	Root    string // where a BaseEmpty is put together before pivot_root
	Remount bool   // without mount_setattr(2): each mount of a tree is made read-only by itself

	NoNewPrivs   bool
	Landlock     landlock.Ruleset
	LandlockABI  int   // the ABI to which the ruleset is downgraded
	LandlockLogs bool  // its denials go to the host's audit log, if that is on
	Caps         []Cap // these are kept, all others dropped; nil with KeepCaps
	KeepCaps     bool  // capabilities stay as they are (no sandbox)
	Bounding     bool  // the bounding set and securebits are cleared as well
	Filter       Filter
	Counter      Counter        // what counts the programs that are started
	Notify       seccomp.Notify // which calls the supervisor answers
	Sockets      bool           // the supervisor decides which pathname sockets the command may connect to
	Relay        bool           // it also decides which hosts, and a relay connects to them
	Publish      bool           // the relay publishes ports of the command on the host
	Brokered     bool           // a broker runs tools for the command
	OwnGroup     bool           // the command gets a process group of its own
	Narrow       *Narrow        // the network rules that the outer sandbox's supervisor must enforce; nil for none
	Limits       Limits
	Agent        AgentHome
	// ForNested is the description, as Parent.AppendJSON writes it, that the supervisor reports to an
	// sbx inside if nothing is mounted, so that no file can hold it. "" if nothing is constrained.
	ForNested string

	Env   []string
	Watch Watch
	// Programs lists which files may be executed.
	Programs Programs

	Enforcement []Enforcement

	items []item // from which the Mounts and the View are made

	// View says what the command may do at each path; zero if nothing is mounted.
	View view.Tree
	// Outer is the View of an outer sandbox that decides on the files.
	Outer view.Tree
	// Warnings are shown before the command starts.
	Warnings []spec.Warning
}

// Staged returns where a path inside lies while the mounts are made.
func (p *Plan) Staged(path string) string {
	if p.Base == BaseEmpty {
		return p.Root + partRoot + path
	}
	return path
}

// Command is the program to start.
type Command struct {
	Argv       []string
	Executable string // absolute
	Dir        string // absolute, inside the sandbox
}

// IDMap says how the user namespace maps ids.
type IDMap struct {
	All  bool // all ids, written by the supervisor; otherwise only the caller's own
	UIDs []IDRange
	GIDs []IDRange
}

// Cap is a capability's number, as in <linux/capability.h>.
type Cap uint8

// These are the capabilities that a root caller keeps, in its own user namespace only.
const (
	CapChown       Cap = 0
	CapDACOverride Cap = 1
	CapFowner      Cap = 3
	CapFsetid      Cap = 4
)

// String returns a kept capability's name, as in capabilities(7).
func (c Cap) String() string {
	switch c {
	case CapChown:
		return "CAP_CHOWN"
	case CapDACOverride:
		return "CAP_DAC_OVERRIDE"
	case CapFowner:
		return "CAP_FOWNER"
	case CapFsetid:
		return "CAP_FSETID"
	}
	return "CAP_" + itoa(int(c))
}

// Filter says which seccomp filter to load.
type Filter struct {
	On              bool
	Profile         string // "default", or the absolute path of an OCI profile
	seccomp.Options        // the shipped filter's, notifications left out
	Code            []byte // the compiled filter of an OCI profile; nil for the default
}

// Counter is what counts the programs that a command and its descendants start.
type Counter uint8

// These are the counters. CounterAuto is never a Plan's counter: it requests the best one that
// works on the host.
const (
	CounterNone   Counter = iota
	CounterNotify         // seccomp notifications
	CounterPtrace
	CounterOuter // an outer sbx, in whose sandbox this one lies
	CounterAuto
)

// Op is what a Mount does.
type Op uint8

// These are the operations, each with the fields of Mount that it reads.
const (
	OpPrivate  Op = iota // cuts off mount events in and out of the namespace
	OpScratch            // Target: a tmpfs (Size) whose parts become the private directories
	OpMkdir              // Target, Perm; an existing directory stays as it is
	OpFile               // Target, Perm: an empty file
	OpSymlink            // Target, Source: the text of the link
	OpContent            // Target, Source: a file with that content
	OpClone              // Source, Slot, Mode: a detached copy of the tree, kept in Slot
	OpAttach             // Slot, Target
	OpBind               // Source, Target, Mode: OpClone and OpAttach in one
	OpPin                // Target: bound onto itself unchanged, so that it cannot be renamed
	OpReadOnly           // Target and all mounts under it: read-only, nosuid, nodev
	OpTmpfs              // Target, Size, Perm: a tmpfs of its own
	OpProc               // Target: a proc of the new pid namespace
	OpDevpts             // Target, Own: opens that many terminals and closes all but the last, which no one has open
	OpWhiteout           // Target: a whiteout for an overlay
	OpOverlay            // Source (the layer of whiteouts), Lower, Target: an overlay, read-only if Upper and Work are empty
	OpOpen               // Source, Slot: a descriptor of a directory or file, kept in Slot
	OpPlace              // Slot (of OpOpen), Own, Target, Mode: bound from the descriptor
	OpSeal               // Target's own mount becomes read-only, but no mount under it
	OpRead               // Source, Slot: a descriptor for reading a file, kept in Slot
	OpCopy               // Slot (of OpRead), Target, Perm: a file with that content
	OpPivot              // Target becomes the root, the old root is detached
)

// Mode says which flags the mount of a bind gets.
type Mode uint8

// These are the modes.
const (
	ModeKeep   Mode = iota // flags as they are
	ModeRO                 // read-only, nosuid, nodev
	ModeRW                 // nosuid, nodev, and writable if the host's mount is
	ModeDevice             // a device node that can be used, but whose owner and mode cannot be changed
)

// Mount is one operation on the mount tree. Paths are absolute and opened without following links,
// so that the operation fails if a link was put there since.
type Mount struct {
	Op     Op
	Source string
	Lower  string
	Upper  string
	Work   string
	Target string
	Mode   Mode
	Slot   int
	Own    int // if not 0, the number of the directory to use in the one that Slot holds
	Perm   uint32
	Size   int64 // in bytes; 0 for the kernel's default
	Soft   bool  // a path that does not exist any more is not a failure
	For    spec.Field
	Why    string
}

// Status is how well a field of the spec is enforced.
type Status uint8

// These are the statuses.
const (
	Enforced Status = iota
	Guarded         // the supervisor denies it at the call; if a racing program gets past, sbx undoes and reports it
	Degraded
	Observed
	Unavailable
)

// Enforcement is the record's line about one field.
type Enforcement struct {
	Field  spec.Field
	Asked  string // the request, in words or JSON; "default" if implied
	Status Status
	By     string // the mechanisms, as in "mount namespace, landlock"
	Reason string // why the field is not Enforced; may be empty
}

// MaskedDir is a directory of the sandbox that an empty one masks.
type MaskedDir struct {
	Inside string     // its path inside
	Path   string     // its path on the host
	Own    int        // the number of the empty directory that masks it; several may share one
	For    spec.Field // the field that hides it
}

// View is a directory inside and the writable tree of the host that shows there, "" if it is none
// of the trees.
type View struct{ Inside, Tree string }

// Weaken makes the line's status at least as weak as s, and adds the reason.
func (e *Enforcement) Weaken(s Status, reason string) {
	e.Status = max(e.Status, s)
	if e.Reason != "" {
		e.Reason += "; "
	}
	e.Reason += reason
}

// Watch lists what the supervisor watches while the command runs.
type Watch struct {
	Protected  []Protected // files and directories that the host may replace
	Unmade     []string    // other paths that must not be created
	Closed     []string    // directories that are read-only inside as a whole: other worktrees' git directories
	Masked     []string    // files hidden by a mount that the host may replace
	MaskedDirs []MaskedDir // masked directories: a program that opens one gets an empty one
	Trees      []string    // writable trees, swept for protected names at the end
	Git        []string    // git directories in the trees, whose protected names are relative to them
	Worktrees  []Worktree  // worktrees that can be removed inside
	Allowed    []string    // names and paths that the spec lets the command create
	Views      []View      // where the trees show inside; the longest path counts
	Sockets    []string    // pathname sockets of the host that the command may connect to, by their paths inside
	Record     string      // the record's path if it is masked: it must exist before the launch
	Renew      []Renewal   // mounts that are lost when the host replaces the path below them, in the order of the Mounts
}

// AgentHome says what a known agent may do in its home.
type AgentHome struct {
	Layer  bool     // files that it writes there end with the sandbox, except those in Writes
	Writes []string // its own paths that it writes on the host
}
