package trace

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/seccomp"
)

// program returns the path that an exec names; "" if it cannot be read, in which case the
// kernel cannot read it either and the exec fails. With AT_EMPTY_PATH and an empty path
// it returns the file behind the descriptor, and empty is set. The path is only reported:
// no decision depends on it, since another thread can change it at any moment.
func (t *Tracer) program(tid int, c seccomp.Call, at bool) (path string, empty bool) {
	address, flags := c.Args[0], uint64(0)
	if at {
		address, flags = c.Args[1], c.Args[4]
	}
	path, ok := t.text(tid, uintptr(address))
	if ok && path == "" && flags&unix.AT_EMPTY_PATH != 0 {
		return link(tid, "fd/"+strconv.Itoa(int(int32(c.Args[0])))), true
	}
	return path, false
}

// text reads a string from the memory of a stopped process, without its NUL. It uses
// PTRACE_PEEKDATA because process_vm_readv(2) took a lock before Linux 5.7 (mm_access)
// that another thread's exec may hold while it waits for this tracer. PTRACE_PEEKDATA
// reads aligned words, which never cross the end of a mapped page.
func (t *Tracer) text(tid int, address uintptr) (s string, ok bool) {
	const step = 128
	for n := 0; n < pathMax; {
		end := min(n+step-int(address+uintptr(n))%8, pathMax)
		got, err := unix.PtracePeekData(tid, address+uintptr(n), t.path[n:end])
		if i := bytes.IndexByte(t.path[n:n+got], 0); i >= 0 {
			return string(t.path[:n+i]), true
		}
		if err != nil {
			return "", false
		}
		n = end
	}
	return "", false
}

// link returns the target of the link /proc/TID/name, "" if it cannot be read.
func link(tid int, name string) string {
	return read.Link(unix.AT_FDCWD, "/proc/"+strconv.Itoa(tid)+"/"+name)
}
