package landlock

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The layouts must be the kernel's (linux/landlock.h), and equal those of x/sys where it has them.
func TestLayouts(t *testing.T) {
	var ours RulesetAttr
	var theirs unix.LandlockRulesetAttr
	for _, row := range []struct {
		name      string
		got, want uintptr
	}{
		{"ruleset", unsafe.Sizeof(ours), AttrSize(Newest)},
		{"handled net", unsafe.Offsetof(ours.HandledNet), unsafe.Offsetof(theirs.Handled_access_net)},
		{"scoped", unsafe.Offsetof(ours.Scoped), unsafe.Offsetof(theirs.Scoped)},
		{"path: descriptor", PathBeneathParent, unsafe.Offsetof(unix.LandlockPathBeneathAttr{}.Parent_fd)},
		{"path: bytes read", PathBeneathSize, 12},
		{"path: allowed", unsafe.Offsetof(PathBeneathAttr{}.Allowed), 0},
	} {
		if row.got != row.want {
			t.Errorf("%s: %d, want %d", row.name, row.got, row.want)
		}
	}
	if CreateRuleset != 444 || AddRule != 445 || RestrictSelf != 446 || PathBeneath != 1 {
		t.Error("the numbers are wrong")
	}
	a := PathBeneathAttr{Allowed: Execute}
	*(*int32)(unsafe.Add(a.Pointer(), PathBeneathParent)) = 7
	if a != (Rule{Allow: Execute | ReadDir, File: true}).Attr(7) {
		t.Errorf("%+v is no attribute with the descriptor 7", a)
	}
}
