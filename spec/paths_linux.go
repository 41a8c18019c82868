package spec

import "syscall"

// HostPaths is the host's file system.
type HostPaths struct{}

// Lstat implements Paths with lstat(2).
func (HostPaths) Lstat(path string) (Info, error) {
	var st syscall.Stat_t
	if err := ignoringEINTR(func() error { return syscall.Lstat(path, &st) }); err != nil {
		return Info{}, faultOf(err)
	}
	kind := st.Mode & syscall.S_IFMT
	return Info{IsDir: kind == syscall.S_IFDIR, IsLink: kind == syscall.S_IFLNK}, nil
}

// Readlink returns the target of the symlink at path.
func (HostPaths) Readlink(path string) (string, error) {
	// A link's target has at most PATH_MAX-1 = 4095 bytes; targets in /proc may be longer than the
	// text that they show.
	var buf [4096]byte
	var n int
	err := ignoringEINTR(func() (err error) { n, err = syscall.Readlink(path, buf[:]); return err })
	if err != nil {
		return "", faultOf(err)
	}
	return string(buf[:n]), nil
}

func faultOf(err error) error {
	switch err {
	case syscall.ENOENT:
		return NoEntry
	case syscall.ENOTDIR:
		return NotDirectory
	case syscall.ELOOP:
		return TooManyLinks
	case syscall.EACCES:
		return NoAccess
	case syscall.ENAMETOOLONG:
		return NameTooLong
	}
	return err
}

// ignoringEINTR repeats a call that a signal interrupted: network file systems
// answer EINTR even where a handler asks for restarts.
func ignoringEINTR(call func() error) error {
	for {
		if err := call(); err != syscall.EINTR {
			return err
		}
	}
}
