package spec

import "slices"

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

// OnExceed says what happens when a budget is exceeded.
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

// Agent is a known coding agent.
type Agent uint8

// The agents.
const (
	Claude Agent = iota + 1
	Codex
	Gemini
	NoAgent
)

// Guards reports whether the mode limits files and implies defaults of other fields: the network, the
// environment, private directories.
func (m AccessMode) Guards() bool { return m == ReadOnly || m == WorkspaceWrite }

// String returns the mode as specs write it; "" if unset.
func (m AccessMode) String() string { return wordOf(m, accessModes) }

// String returns the mode as specs write it; "" if unset.
func (m NetworkMode) String() string { return wordOf(m, networkModes) }

// String returns the mode as specs write it.
func (m MountMode) String() string { return wordOf(m, mountModes) }

// String returns the answer as specs write it.
func (e OnExceed) String() string { return wordOf(e, onExceeds) }

// String returns the profile as specs write it.
func (p Profile) String() string { return wordOf(p, profiles) }

// String returns the agent as specs write it.
func (a Agent) String() string { return wordOf(a, agents) }

// ParseAccessMode returns the mode that a word of a spec names.
func ParseAccessMode(s string) (AccessMode, bool) { return valueOf[AccessMode](s, accessModes) }

// ParseNetworkMode returns the mode that a word of a spec names.
func ParseNetworkMode(s string) (NetworkMode, bool) { return valueOf[NetworkMode](s, networkModes) }

// ParseMountMode returns the mode that a word of a spec names.
func ParseMountMode(s string) (MountMode, bool) { return valueOf[MountMode](s, mountModes) }

// ParseOnExceed returns the answer that a word of a spec names.
func ParseOnExceed(s string) (OnExceed, bool) { return valueOf[OnExceed](s, onExceeds) }

// ParseProfile returns the profile that a word of a spec names.
func ParseProfile(s string) (Profile, bool) { return valueOf[Profile](s, profiles) }

// ParseAgent returns the agent that a word of a spec names.
func ParseAgent(s string) (Agent, bool) { return valueOf[Agent](s, agents) }

// The words of each enumeration, in the order of its values from 1 on.
var (
	accessModes  = []string{"read-only", "workspace-write", "danger-full-access"}
	networkModes = []string{"none", "allow", "host"}
	mountModes   = []string{"ro", "rw", "tmpfs"}
	onExceeds    = []string{"deny", "kill", "record"}
	profiles     = []string{"read-only", "write", "verification", "design"}
	agents       = []string{"claude", "codex", "gemini", "none"}
)

// wordOf returns the word of a value; "" for zero and invalid values.
func wordOf[E ~uint8](e E, words []string) string {
	if e == 0 || int(e) > len(words) {
		return ""
	}
	return words[e-1]
}

// valueOf returns the value of a word; false if there is none.
func valueOf[E ~uint8](word string, words []string) (E, bool) {
	i := slices.Index(words, word)
	return E(i + 1), i >= 0
}
