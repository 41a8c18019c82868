package seccomp

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Arch is an architecture that filters can be made for.
type Arch uint8

// The architectures. Their 32-bit entries (i386, x32, arm) have no filter of
// their own: see Program.
const (
	AMD64 Arch = iota + 1
	ARM64
)

// arches holds each architecture's facts: Go's name, the word that the kernel
// puts into seccomp_data.arch (linux/audit.h), and the call table, by number
// and as numbers in the order of their names.
var arches = [...]struct {
	name     string
	audit    uint32
	byNumber []string
	byName   []uint16
}{
	AMD64: {"amd64", unix.AUDIT_ARCH_X86_64, amd64Calls[:], amd64Sorted[:]},
	ARM64: {"arm64", unix.AUDIT_ARCH_AARCH64, arm64Calls[:], arm64Sorted[:]},
}

// String is Go's name for the architecture; "none" for one that is not known.
func (a Arch) String() string {
	if !a.valid() {
		return "none"
	}
	return arches[a].name
}

func (a Arch) valid() bool { return a == AMD64 || a == ARM64 }

// Audit is the AUDIT_ARCH word that the kernel shows to filters, 0 for an
// architecture that is not known.
func (a Arch) Audit() uint32 {
	if !a.valid() {
		return 0
	}
	return arches[a].audit
}

// Number is the number of the call of that name on this architecture. Names
// are the kernel's own: newfstatat, pread64, umount2.
func (a Arch) Number(name string) (nr uint32, ok bool) {
	if !a.valid() {
		return 0, false
	}
	t := &arches[a]
	i, ok := slices.BinarySearchFunc(t.byName, name, func(nr uint16, name string) int {
		return strings.Compare(t.byNumber[nr], name)
	})
	if !ok {
		return 0, false
	}
	return uint32(t.byName[i]), true
}

// Name is the name of the call with that number on this architecture; ok is
// false where the tables have none, which programs made by this package
// answer with ENOSYS.
func (a Arch) Name(nr uint32) (name string, ok bool) {
	if !a.valid() || nr >= uint32(len(arches[a].byNumber)) {
		return "", false
	}
	name = arches[a].byNumber[nr]
	return name, name != ""
}

// known tells whether any Linux architecture has a call of that name. A rule
// about a call that only others have is no mistake: it says nothing here.
func known(name string) bool {
	for a := AMD64; a <= ARM64; a++ {
		if _, ok := a.Number(name); ok {
			return true
		}
	}
	_, ok := slices.BinarySearch(foreignCalls[:], name)
	return ok
}
