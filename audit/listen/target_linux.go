package listen

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// nameOf is the path that a descriptor of the listener's own leads to.
func (p *paths) nameOf(fd int) string {
	var buf [pathMax]byte
	n := p.pathOf(fd, buf[:])
	return string(bytes.TrimSuffix(buf[:max(n, 0)], []byte(" (deleted)")))
}

// pathOf is nameOf into a buffer: its length, negative where there is none. The
// directory of the supervisor's descriptors stays open, which spares the kernel half
// of the way there.
func (p *paths) pathOf(fd int, buf []byte) int {
	if p.own == 0 {
		dir, e := openPath([]byte("/proc/self/fd\x00"))
		if e != 0 {
			return readlink(ownFD(fd), buf)
		}
		p.own = dir // never 0: that is open from the start
	}
	var name [24]byte
	return readlinkat(p.own, append(strconv.AppendInt(name[:0], int64(fd), 10), 0), buf)
}

// ownFD is the path of a descriptor of the supervisor's own.
func ownFD(fd int) []byte {
	return append(strconv.AppendInt(append(make([]byte, 0, 32), "/proc/self/fd/"...), int64(fd), 10), 0)
}

// header reads what the kernel would of a regular file. The file behind a
// descriptor of only its name is opened again: nothing can be in its place.
func (c *checker) header(fd int) (h []byte, ok bool) {
	own, e := openFile(ownFD(fd))
	if e != 0 {
		return nil, false // executable and not readable, perhaps
	}
	defer unix.Close(own)
	n, err := unix.Pread(own, c.head[:], 0)
	if err != nil {
		return nil, false
	}
	return c.head[:n], true
}

// mayExecute tells whether the thread may execute the file: the supervisor's user
// is the sandbox's too. Root may where any execute bit is set.
func (c *checker) mayExecute(fd int) bool {
	if c.user == 0 {
		c.user = unix.Geteuid() + 1
	}
	return c.user == 1 || access(fd, unix.X_OK) != unix.EACCES || !c.final(unix.EACCES)
}

// system is the part of statfs(2) that matters of what a directory is on: whether it is
// /proc, where names lead each process elsewhere, and whether it may only be read. What
// cannot be told is taken for both.
type system struct{ asked, isProc, fixed bool }

func systemOf(fd int) system {
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil {
		return system{true, true, true}
	}
	return system{true, fs.Type == unix.PROC_SUPER_MAGIC, fs.Flags&unix.ST_RDONLY != 0}
}

func isProc(fd int) bool { return systemOf(fd).isProc }

// Close is for a listener whose supervisor goes on without it.
func (l *Listener) Close() {
	if l.paths.own > 0 {
		unix.Close(l.paths.own)
	}
}
