package seccomp

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Arch is an architecture for which filters can be made.
type Arch uint8

// These are the architectures. Their 32-bit entries (i386, x32, arm) have no filter of their own:
// see Program.
const (
	AMD64 Arch = iota + 1
	ARM64
)

// arches has the facts about each architecture: Go's name for it, the word that the kernel puts
// into seccomp_data.arch (linux/audit.h), and the call table, by number and as numbers sorted by
// name.
var arches = [...]struct {
	name     string
	audit    uint32
	byNumber []string
	byName   []uint16
}{
	AMD64: {"amd64", unix.AUDIT_ARCH_X86_64, amd64Calls[:], amd64Sorted[:]},
	ARM64: {"arm64", unix.AUDIT_ARCH_AARCH64, arm64Calls[:], arm64Sorted[:]},
}

// String returns Go's name for the architecture; "none" for an unknown one.
func (a Arch) String() string {
	if !a.valid() {
		return "none"
	}
	return arches[a].name
}

func (a Arch) valid() bool { return a == AMD64 || a == ARM64 }

// Audit returns the AUDIT_ARCH word that the kernel shows to filters; 0 for an unknown
// architecture.
func (a Arch) Audit() uint32 {
	if !a.valid() {
		return 0
	}
	return arches[a].audit
}

// Number returns the number of the call with that name on this architecture. Names are the kernel's
// own: newfstatat, pread64, umount2.
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

// Name returns the name of the call with that number on this architecture. ok is false if the
// tables have none; programs made by this package answer such a call with ENOSYS.
func (a Arch) Name(nr uint32) (name string, ok bool) {
	if !a.valid() || nr >= uint32(len(arches[a].byNumber)) {
		return "", false
	}
	name = arches[a].byNumber[nr]
	return name, name != ""
}

// known reports whether any Linux architecture has a call with that name. A rule about a call that
// only other architectures have is no mistake: it has no effect here.
func known(name string) bool {
	for a := AMD64; a <= ARM64; a++ {
		if _, ok := a.Number(name); ok {
			return true
		}
	}
	_, ok := slices.BinarySearch(foreignCalls[:], name)
	return ok
}
