package landlock

import "unsafe"

// Where things lie in PathBeneathAttr, in bytes: a 32-bit descriptor at
// PathBeneathParent, and the end of what the kernel reads.
const (
	PathBeneathParent = unsafe.Offsetof(PathBeneathAttr{}.Parent)
	PathBeneathSize   = PathBeneathParent + unsafe.Sizeof(PathBeneathAttr{}.Parent)
)

// Pointer is the address of the attribute for a raw system call. Who keeps it
// as a uintptr keeps the attribute alive besides.
func (a *RulesetAttr) Pointer() unsafe.Pointer { return unsafe.Pointer(a) }

// Pointer is the address of the attribute, as RulesetAttr's.
func (a *PathBeneathAttr) Pointer() unsafe.Pointer { return unsafe.Pointer(a) }
