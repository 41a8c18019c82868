package launch

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// ReleaseText releases the memory of the program's own code, for a supervisor that only waits. The
// page cache holds the code anyway, until it runs again. (A garbage collection would cost more
// memory than it frees.)
func ReleaseText() {
	b, ok := read.Proc("/proc/self/maps", 1<<16)
	if !ok {
		return
	}
	exe := read.Link(unix.AT_FDCWD, "/proc/self/exe")
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 6 || f[5] != exe || f[1][1] != '-' { // a writable mapping may differ from the file
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
