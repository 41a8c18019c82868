package host

import (
	"encoding/binary"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/spec"
)

// The parts of a 64-bit ELF file that are needed to find its loader (elf(5)).
const (
	elfHeader    = 64
	elfProgram   = 56
	elfInterp    = 3 // PT_INTERP
	maxSegments  = 128
	maxLoaderLen = 4096
)

// loader returns the dynamic loader that a program names, without symlinks; "" for a static
// program, a script and any file that is not 64-bit ELF. The file may be hostile: the result is
// only used as a path to examine.
func loader(path, head string) string {
	name := loaderName(path, head)
	if name == "" || name[0] != '/' {
		return ""
	}
	real, err := spec.Real(name, spec.HostPaths{})
	if err != nil {
		return ""
	}
	return real
}

func loaderName(path, head string) string {
	if len(head) < elfHeader || !strings.HasPrefix(head, "\x7fELF\x02\x01") {
		return ""
	}
	h := []byte(head)
	offset := binary.LittleEndian.Uint64(h[32:])
	size, count := binary.LittleEndian.Uint16(h[54:]), binary.LittleEndian.Uint16(h[56:])
	if size != elfProgram || count > maxSegments || offset > 1<<40 {
		return ""
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	segments := []byte(readAt(fd, make([]byte, int(count)*elfProgram), int64(offset)))
	for ; len(segments) >= elfProgram; segments = segments[elfProgram:] {
		if binary.LittleEndian.Uint32(segments) != elfInterp {
			continue
		}
		at, n := binary.LittleEndian.Uint64(segments[8:]), binary.LittleEndian.Uint64(segments[32:])
		if at > 1<<40 || n > maxLoaderLen {
			return ""
		}
		name, _, _ := strings.Cut(readAt(fd, make([]byte, n), int64(at)), "\x00")
		return name
	}
	return ""
}
