package project

import (
	"crypto/sha256"

	"golang.org/x/sys/unix"

	"sbx/internal/doc"
	"sbx/internal/view"
	"sbx/spec"
)

// Top returns the top directory of the project that contains dir, without links: the nearest
// directory with a .git in it, or dir itself. It is "" for no project: the root directory, and a
// directory in which everybody may create names, like /tmp.
func Top(dir string) (string, error) {
	real, err := spec.Real(dir, spec.HostPaths{})
	if err != nil {
		return "", &spec.Problem{On: dir, Do: "find the project", Why: err.Error()}
	}
	for at := real; at != "/"; at = view.Parent(at) {
		if _, err := (spec.HostPaths{}).Lstat(at + "/.git"); err == nil && !shared(at) {
			return at, nil
		}
	}
	if real == "/" || shared(real) {
		return "", nil
	}
	return real, nil
}

// shared reports whether everybody may create names in a directory.
func shared(dir string) bool {
	var st unix.Stat_t
	return unix.Lstat(dir, &st) != nil || st.Mode&unix.S_ISVTX != 0 && st.Mode&0o002 != 0
}

// Find reads the spec of the project that contains dir, for the caller uid; nil if the project has
// none.
func Find(dir string, uid int) (*File, error) {
	top, err := Top(dir)
	if err != nil || top == "" {
		return nil, err
	}
	f := &File{Top: top}
	fd, why := open(top)
	if why != "" {
		return nil, &spec.Problem{On: f.Path(), Do: "read the project's own spec", Why: why, Help: "name a spec by --spec, or run without it by --no-project-spec"}
	}
	if fd < 0 {
		return nil, nil
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &spec.Problem{On: f.Path(), Do: "read the project's own spec", Why: err.Error()}
	}
	if f.Text, err = spec.ReadFD(fd, f.Path()); err != nil {
		return nil, err
	}
	f.Digest, f.Own = digest(f.Text), st.Uid == 0 || int(st.Uid) == uid
	return f, nil
}

// open opens the spec of a project; -1 if there is none. It refuses links under top, and does not
// wait for a FIFO.
func open(top string) (fd int, why string) {
	at, err := openat(unix.AT_FDCWD, top, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return -1, top + ": " + err.Error()
	}
	defer func() { _ = unix.Close(at) }()
	dir, err := openat(at, ".sbx", unix.O_PATH|unix.O_DIRECTORY)
	switch {
	case err == unix.ENOENT:
		return -1, ""
	case err != nil && isLink(at, ".sbx"):
		return -1, ".sbx is a symbolic link, which is not followed"
	case err == unix.ENOTDIR: // another program's file of that name
		return -1, ""
	case err != nil:
		return -1, err.Error()
	}
	defer func() { _ = unix.Close(dir) }()
	fd, err = openat(dir, "spec.yaml", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	switch {
	case err == unix.ENOENT:
		return -1, ""
	case err == unix.ELOOP:
		return -1, "it is a symbolic link, which is not followed"
	case err != nil:
		return -1, err.Error()
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		_ = unix.Close(fd)
		return -1, "it is not a regular file"
	}
	return fd, ""
}

func isLink(at int, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
}

func openat(at int, name string, flags int) (fd int, err error) {
	for {
		if fd, err = unix.Openat(at, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err != unix.EINTR {
			return fd, err
		}
	}
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return doc.Hex(sum[:])
}
