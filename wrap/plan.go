package wrap

import (
	"sbx/internal/view"
	"sbx/landlock"
	"sbx/seccomp"
	"sbx/spec"
)

// Base is what the sandbox's root is made from.
type Base uint8

// The bases.
const (
	// BaseHost leaves the mounts as they are: no mount namespace.
	BaseHost Base = iota
	// BasePlace is the host's root as it stands in a mount namespace of the
	// sandbox's own, read-only or not, with mounts laid over it.
	BasePlace
	// BaseEmpty is an empty tmpfs into which only what is named is bound.
	BaseEmpty
)

// Namespace is a kind of Linux namespace.
type Namespace uint8

// The namespaces, in the order they are listed.
const (
	UserNS Namespace = iota
	MountNS
	PidNS
	NetNS
	IPCNS
	UTSNS
	CgroupNS
)

// Plan is all that will be done, as data, in the order it is done. Build makes
// it from a Resolved and a Host; launch carries it out; it prints as JSON.
type Plan struct {
	Opening
	Command Command
	Base    Base
	Mounts  []Mount
	Root    string // where BaseEmpty is put together before pivot_root
	Remount bool   // no mount_setattr(2): each mount of a tree is made read-only by itself

	NoNewPrivs   bool
	Landlock     landlock.Ruleset
	LandlockABI  int   // what Landlock was downgraded to
	LandlockLogs bool  // what it refuses goes to the host's audit, if that is on
	Caps         []Cap // kept, all others dropped; nil with KeepCaps
	KeepCaps     bool  // capabilities are left as they are (no sandbox)
	Bounding     bool  // the bounding set and securebits are emptied as well
	Filter       Filter
	Counter      Counter        // what counts the programs that are started
	Notify       seccomp.Notify // which calls the supervisor answers
	Sockets      bool           // which pathname sockets are connected to is the supervisor's to decide
	Relay        bool           // and which hosts, which a relay connects to
	Publish      bool           // ports of the host lead inside, by the relay
	Brokered     bool           // a broker runs tools for the command
	OwnGroup     bool           // the command gets a process group of its own
	Narrow       *Narrow        // what the outer sandbox's supervisor is to hold; nil for nothing
	Limits       Limits
	Agent        AgentHome
	// Tells is what the supervisor tells an sbx inside, as Parent.AppendJSON writes
	// it, where no file can: nothing is mounted. "" for nothing that narrows.
	Tells string

	Env   []string
	Watch Watch
	// Programs is which files may be executed.
	Programs Programs

	Enforcement []Enforcement

	items []item // what the Mounts put in their places, and the View is of

	// View is what the command may do at each path; the zero value where nothing is
	// mounted.
	View view.Tree
	// Outer is the same where an outer sandbox has the files.
	Outer view.Tree
	// Warnings are what a person is told of the Plan before the command starts.
	Warnings []spec.Warning
}

// Staged is where a path of the inside stands while the mounts are made.
func (p *Plan) Staged(path string) string {
	if p.Base == BaseEmpty {
		return p.Root + partRoot + path
	}
	return path
}

// Command is what is started.
type Command struct {
	Argv       []string
	Executable string // absolute
	Dir        string // absolute, inside the sandbox
}

// IDMap says how ids are mapped.
type IDMap struct {
	All  bool // all ids, written by the supervisor; else the caller's own alone
	UIDs []IDRange
	GIDs []IDRange
}

// Cap is a capability's number, as in <linux/capability.h>.
type Cap uint8

// The capabilities that a root caller keeps, in its own user namespace only.
const (
	CapChown       Cap = 0
	CapDACOverride Cap = 1
	CapFowner      Cap = 3
	CapFsetid      Cap = 4
)

// String is a kept capability's name, as capabilities(7) has it.
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

// Filter says which seccomp filter is loaded.
type Filter struct {
	On              bool
	Profile         string // "default", or the absolute path of an OCI profile
	seccomp.Options        // the shipped filter's, notifications left out
	Code            []byte // the compiled filter of an OCI profile; nil for the default
}

// Counter is what counts the programs that a command and its descendants start.
type Counter uint8

// The counters. CounterAuto is no counter of a Plan, but the wish for the best
// that the host has.
const (
	CounterNone   Counter = iota
	CounterNotify         // seccomp's notifications
	CounterPtrace
	CounterOuter // an outer sbx's, of whose sandbox this one is a part
	CounterAuto
)

// Op is what a Mount does.
type Op uint8

// The operations, and the fields of Mount that each reads.
const (
	OpPrivate  Op = iota // no mount event goes in or out of the namespace
	OpScratch            // Target: one tmpfs (Size) that the private directories are parts of
	OpMkdir              // Target, Perm; what is there already is left
	OpFile               // Target, Perm: an empty file
	OpSymlink            // Target, Source: the text of the link
	OpContent            // Target, Source: a file of that content
	OpClone              // Source, Slot, Mode: a detached copy of the tree, kept in Slot
	OpAttach             // Slot, Target
	OpBind               // Source, Target, Mode: OpClone and OpAttach in one
	OpPin                // Target: bound onto itself as it is, so that it cannot be renamed
	OpReadOnly           // Target and all mounts under: read-only, nosuid, nodev
	OpTmpfs              // Target, Size, Perm: a tmpfs of its own
	OpProc               // Target: a proc of the new pid namespace
	OpDevpts             // Target, Own: so many terminals are made, of which the last stays, never opened
	OpWhiteout           // Target: a whiteout for an overlay
	OpOverlay            // Source (the layer of whiteouts), Lower, Target: an overlay, read-only where Upper and Work are empty
	OpOpen               // Source, Slot: a descriptor of a directory or file, kept in Slot
	OpPlace              // Slot (of OpOpen), Own, Target, Mode: bound from the descriptor
	OpSeal               // Target's own mount becomes read-only, none under it
	OpRead               // Source, Slot: a descriptor for reading a file, kept in Slot
	OpCopy               // Slot (of OpRead), Target, Perm: a file with that content
	OpPivot              // Target becomes the root, the old one is detached
)

// Mode is how a bind is seen.
type Mode uint8

// The modes.
const (
	ModeKeep   Mode = iota // flags as they are
	ModeRO                 // read-only, nosuid, nodev
	ModeRW                 // nosuid, nodev, as writable as on the host
	ModeDevice             // a device node: it can be used, and neither its owner nor its mode changed
)

// Mount is one operation on the mount tree. Paths are absolute; they are
// opened without following links, so one that was swapped for a link fails.
type Mount struct {
	Op     Op
	Source string
	Lower  string
	Upper  string
	Work   string
	Target string
	Mode   Mode
	Slot   int
	Own    int // not 0: of what Slot holds, the directory of this number
	Perm   uint32
	Size   int64 // bytes; 0 is the kernel's own default
	Soft   bool  // not being there any more is no failure
	For    spec.Field
	Why    string
}

// Status is how far a field of the spec holds.
type Status uint8

// The statuses.
const (
	Enforced Status = iota
	Guarded         // denied by the supervisor as it happens, which a racing program can pass, then undone and told
	Degraded
	Observed
	Unavailable
)

// Enforcement is a record's line on one field.
type Enforcement struct {
	Field  spec.Field
	Asked  string // what was asked, in words or JSON; "default" where implied
	Status Status
	By     string // the mechanisms, as "mount namespace, landlock"
	Reason string // why it is not Enforced; may be empty
}

// Directory is a directory of the sandbox that an empty one lies over.
type Folder struct {
	Inside string     // as it is called there
	Path   string     // of the host
	Own    int        // of the mount that masks it; several may share one
	For    spec.Field // that hides it
}

// View is a directory of the sandbox and the writable tree of the host that it is,
// "" where it is not one of the trees.
type View struct{ Inside, Tree string }

// Weaken says why the line holds less: its status is at least as weak as s.
func (e *Enforcement) Weaken(s Status, reason string) {
	e.Status = max(e.Status, s)
	if e.Reason != "" {
		e.Reason += "; "
	}
	e.Reason += reason
}

// Watch is what the supervisor looks after while the command runs.
type Watch struct {
	Protected []Protected // files and directories that the host itself may replace
	Unmade    []string    // further paths that must not be created
	Closed    []string    // directories that are read-only inside, whole: other worktrees' git directories
	Masked    []string    // files hidden by a mount that the host may replace
	Folders   []Folder    // directories that are hidden by a mount: whoever opens one gets an empty one
	Trees     []string    // writable trees swept for protected names at the end
	Git       []string    // git directories in them: names count from there as well
	Worktrees []Worktree  // that can be removed inside
	Allowed   []string    // names and paths that the spec lets the command create
	Views     []View      // where the trees are seen inside; the longest path counts
	Sockets   []string    // pathname sockets of the host that may be connected to, as they are seen inside
	Record    string      // the record's path where it is masked: it must be there before the launch
	Renew     []Renewal   // what falls off when the host replaces what it lies on, in the order of the Mounts
}

// AgentHome is what a known agent has of its home.
type AgentHome struct {
	Layer  bool     // what it writes there ends with the sandbox, but for Writes
	Writes []string // what of its own it writes on the host
}
