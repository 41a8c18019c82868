package landlock

import "golang.org/x/sys/unix"

// These are the numbers of the system calls, which are the same on every architecture, and the
// types of rules and flags that they take.
const (
	CreateRuleset = unix.SYS_LANDLOCK_CREATE_RULESET // (*RulesetAttr, AttrSize(abi), 0) → descriptor
	AddRule       = unix.SYS_LANDLOCK_ADD_RULE       // (descriptor, PathBeneath, *PathBeneathAttr, 0)
	RestrictSelf  = unix.SYS_LANDLOCK_RESTRICT_SELF  // (descriptor, 0 or LogNewExec), after no_new_privs

	PathBeneath = unix.LANDLOCK_RULE_PATH_BENEATH // the rule is a *PathBeneathAttr

	// LogNewExec writes denials to programs that are executed later into the kernel's audit log,
	// too, if that is on (ABI 7).
	LogNewExec = 1 << 1 // LANDLOCK_RESTRICT_SELF_LOG_NEW_EXEC_ON
)

// RulesetAttr is struct landlock_ruleset_attr as of ABI 6. Older kernels know only its beginning:
// pass it with AttrSize.
type RulesetAttr struct {
	HandledFS  FSSet
	HandledNet NetSet
	Scoped     ScopeSet
}

// PathBeneathAttr is struct landlock_path_beneath_attr. The kernel reads PathBeneathSize bytes of
// it: the struct is packed there, and Go's padding at the end is never read.
type PathBeneathAttr struct {
	Allowed FSSet
	Parent  int32 // a descriptor of the file or directory, opened with O_PATH
}

// Attr is the ruleset for landlock_create_ruleset(2). r is to be what
// Downgrade returned.
func (r Ruleset) Attr() RulesetAttr {
	return RulesetAttr{HandledFS: r.FS, HandledNet: r.Net, Scoped: r.Scope}
}

// Attr returns the rule for landlock_add_rule(2), with a descriptor of its path. A launcher that
// opens the path later, in its child, writes the descriptor at PathBeneathParent.
func (r Rule) Attr(parent int) PathBeneathAttr {
	return PathBeneathAttr{Allowed: r.fits(), Parent: int32(parent)}
}
