package launch

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// ReleaseText is for a supervisor that has nothing to do but wait: it lets go of the
// program's own text, which the page cache holds anyway, until it is run again.
// (A garbage collection would cost more memory than it gives back.)
func ReleaseText() {
	b, ok := read.Proc("/proc/self/maps", 1<<16)
	if !ok {
		return
	}
	exe := read.Link(unix.AT_FDCWD, "/proc/self/exe")
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 6 || f[5] != exe || f[1][1] != '-' { // what may be written is not the file's any more
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		lo, err := strconv.ParseUint(from, 16, 64)
		hi, err2 := strconv.ParseUint(to, 16, 64)
		if err == nil && err2 == nil {
			letGo(uintptr(lo), uintptr(hi-lo))
		}
	}
}

// letGo drops the pages of a read-only file mapping: madvise(2), MADV_DONTNEED,
// "subsequent accesses … will result in … repopulating the memory contents from
// the up-to-date contents of the underlying mapped file".
func letGo(at, n uintptr) { _, _, _ = syscall.Syscall(unix.SYS_MADVISE, at, n, unix.MADV_DONTNEED) }
