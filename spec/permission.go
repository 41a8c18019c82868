package spec

// PermissionMode is how an agent asks before it acts, in Claude's words.
type PermissionMode uint8

// The permission modes, narrowest first.
const (
	PlanOnly PermissionMode = iota + 1
	AskDefault
	AcceptEdits
	BypassPermissions
)

// String returns the mode as Claude writes it.
func (m PermissionMode) String() string { return wordOf(m, PermissionModes) }

// ParsePermissionMode returns the mode that a word names.
func ParsePermissionMode(s string) (PermissionMode, bool) {
	return valueOf[PermissionMode](s, PermissionModes)
}

// PermissionModes are the words of the permission modes.
var PermissionModes = []string{"plan", "default", "acceptEdits", "bypassPermissions"}
