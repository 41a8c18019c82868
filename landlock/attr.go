package landlock

import "golang.org/x/sys/unix"

// The numbers of the system calls, the same on every architecture, and the
// types of rule and flags that they take.
const (
	CreateRuleset = unix.SYS_LANDLOCK_CREATE_RULESET // (*RulesetAttr, AttrSize(abi), 0) → descriptor
	AddRule       = unix.SYS_LANDLOCK_ADD_RULE       // (descriptor, PathBeneath, *PathBeneathAttr, 0)
	RestrictSelf  = unix.SYS_LANDLOCK_RESTRICT_SELF  // (descriptor, 0 or LogNewExec), after no_new_privs

	PathBeneath = unix.LANDLOCK_RULE_PATH_BENEATH // the rule is a *PathBeneathAttr

	// LogNewExec has the kernel's audit log, if it is on, also what is refused to
	// programs that are executed later (ABI 7).
	LogNewExec = 1 << 1 // LANDLOCK_RESTRICT_SELF_LOG_NEW_EXEC_ON
)

// RulesetAttr is struct landlock_ruleset_attr as of ABI 6. Kernels before know
// its beginning: hand it over with AttrSize.
type RulesetAttr struct {
	HandledFS  FSSet
	HandledNet NetSet
	Scoped     ScopeSet
}

// PathBeneathAttr is struct landlock_path_beneath_attr, of which the kernel
// reads PathBeneathSize bytes: it is packed there, and Go's padding at the end
// is never looked at.
type PathBeneathAttr struct {
	Allowed FSSet
	Parent  int32 // a descriptor of the file or directory, opened with O_PATH
}

// Attr is the ruleset for landlock_create_ruleset(2). r is to be what
// Downgrade returned.
func (r Ruleset) Attr() RulesetAttr {
	return RulesetAttr{HandledFS: r.FS, HandledNet: r.Net, Scoped: r.Scope}
}

// Attr is the rule for landlock_add_rule(2), with a descriptor of its path. A
// launcher that opens the path later, in its child, writes the descriptor at
// PathBeneathParent.
func (r Rule) Attr(parent int) PathBeneathAttr {
	return PathBeneathAttr{Allowed: r.fits(), Parent: int32(parent)}
}
