package landlock

import "unsafe"

// These are offsets in PathBeneathAttr, in bytes: of the 32-bit descriptor, and of the end of the
// part that the kernel reads.
const (
	PathBeneathParent = unsafe.Offsetof(PathBeneathAttr{}.Parent)
	PathBeneathSize   = PathBeneathParent + unsafe.Sizeof(PathBeneathAttr{}.Parent)
)

// Pointer returns the address of the attribute for a raw system call. A caller that keeps it as a
// uintptr must also keep the attribute alive.
func (a *RulesetAttr) Pointer() unsafe.Pointer { return unsafe.Pointer(a) }

// Pointer returns the address of the attribute, as RulesetAttr.Pointer does.
func (a *PathBeneathAttr) Pointer() unsafe.Pointer { return unsafe.Pointer(a) }
