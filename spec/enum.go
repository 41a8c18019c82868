package spec

// AccessMode is access_mode: how much of the host's files may be changed.
type AccessMode uint8

// The access modes, narrowest first after unset.
const (
	AccessUnset AccessMode = iota
	ReadOnly
	WorkspaceWrite
	DangerFullAccess
)

// NetworkMode is network.mode.
type NetworkMode uint8

// The network modes, narrowest first after unset.
const (
	NetworkUnset NetworkMode = iota
	NetworkNone
	NetworkAllow
	NetworkHost
)

// MountMode is a mount's mode.
type MountMode uint8

// The mount modes.
const (
	MountRO MountMode = iota + 1
	MountRW
	MountTmpfs
)

// OnExceed is what happens at a budget.
type OnExceed uint8

// The answers to an exceeded budget.
const (
	Deny OnExceed = iota + 1
	Kill
	RecordOnly
)

// Profile is a named starting point.
type Profile uint8

// The profiles.
const (
	ProfileReadOnly Profile = iota + 1
	ProfileWrite
	ProfileVerification
	ProfileDesign
)

// Agent is the agent whose command line and stream an adapter knows.
type Agent uint8

// The agents.
const (
	Claude Agent = iota + 1
	Codex
	Gemini
	NoAgent
)

// Guards tells whether the mode constrains files and implies the fields beside
// it: a network, an environment, private folders.
func (m AccessMode) Guards() bool { return m == ReadOnly || m == WorkspaceWrite }

// String is the mode as specs write it; "" when unset.
func (m AccessMode) String() string {
	switch m {
	case ReadOnly:
		return "read-only"
	case WorkspaceWrite:
		return "workspace-write"
	case DangerFullAccess:
		return "danger-full-access"
	}
	return ""
}

// String is the mode as specs write it; "" when unset.
func (m NetworkMode) String() string {
	switch m {
	case NetworkNone:
		return "none"
	case NetworkAllow:
		return "allow"
	case NetworkHost:
		return "host"
	}
	return ""
}

// String is the mode as specs write it.
func (m MountMode) String() string {
	switch m {
	case MountRO:
		return "ro"
	case MountRW:
		return "rw"
	case MountTmpfs:
		return "tmpfs"
	}
	return ""
}

// String is the answer as specs write it.
func (e OnExceed) String() string {
	switch e {
	case Deny:
		return "deny"
	case Kill:
		return "kill"
	case RecordOnly:
		return "record"
	}
	return ""
}

// String is the profile as specs write it.
func (p Profile) String() string {
	switch p {
	case ProfileReadOnly:
		return "read-only"
	case ProfileWrite:
		return "write"
	case ProfileVerification:
		return "verification"
	case ProfileDesign:
		return "design"
	}
	return ""
}

// String is the agent as specs write it.
func (a Agent) String() string {
	switch a {
	case Claude:
		return "claude"
	case Codex:
		return "codex"
	case Gemini:
		return "gemini"
	case NoAgent:
		return "none"
	}
	return ""
}

// ParseAccessMode is the mode that a spec's word names.
func ParseAccessMode(s string) (AccessMode, bool) {
	return parseWord(s, ReadOnly, DangerFullAccess, AccessMode.String)
}

// ParseNetworkMode is the mode that a spec's word names.
func ParseNetworkMode(s string) (NetworkMode, bool) {
	return parseWord(s, NetworkNone, NetworkHost, NetworkMode.String)
}

// ParseMountMode is the mode that a spec's word names.
func ParseMountMode(s string) (MountMode, bool) {
	return parseWord(s, MountRO, MountTmpfs, MountMode.String)
}

// ParseOnExceed is the answer that a spec's word names.
func ParseOnExceed(s string) (OnExceed, bool) {
	return parseWord(s, Deny, RecordOnly, OnExceed.String)
}

// ParseProfile is the profile that a spec's word names.
func ParseProfile(s string) (Profile, bool) {
	return parseWord(s, ProfileReadOnly, ProfileDesign, Profile.String)
}

// ParseAgent is the agent that a spec's word names.
func ParseAgent(s string) (Agent, bool) {
	return parseWord(s, Claude, NoAgent, Agent.String)
}

// The words of each enumeration, for messages.
var (
	accessModes  = []string{"read-only", "workspace-write", "danger-full-access"}
	networkModes = []string{"none", "allow", "host"}
	mountModes   = []string{"ro", "rw", "tmpfs"}
	onExceeds    = []string{"deny", "kill", "record"}
	profiles     = []string{"read-only", "write", "verification", "design"}
	agents       = []string{"claude", "codex", "gemini", "none"}
)

// parseWord looks for word among the values from first to last.
func parseWord[E ~uint8](word string, first, last E, name func(E) string) (E, bool) {
	for e := first; e <= last; e++ {
		if name(e) == word {
			return e, true
		}
	}
	return 0, false
}
