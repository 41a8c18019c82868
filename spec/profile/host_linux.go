package profile

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/spec"
)

// Host is the host's file system.
type Host struct{}

// List returns the entries of a directory. It is an error if dir is a link.
func (Host) List(dir string) ([]Entry, error) {
	fd, err := open(dir, syscall.O_DIRECTORY|syscall.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	defer func() { _ = syscall.Close(fd) }()
	var all []Entry
	var names read.Dir
	err = names.Each(fd, func(name []byte, dtype byte) bool {
		s := string(name)
		all = append(all, Entry{Name: s, Kind: kindOf(dtype, dir+"/"+s)})
		return len(all) <= maxEntries
	})
	return all, err
}

func kindOf(dtype byte, path string) Kind {
	switch dtype {
	case syscall.DT_REG:
		return File
	case syscall.DT_DIR:
		return Dir
	case syscall.DT_UNKNOWN: // some file systems do not report the type
		var st syscall.Stat_t
		if syscall.Lstat(path, &st) != nil {
			return Other
		}
		switch st.Mode & syscall.S_IFMT {
		case syscall.S_IFREG:
			return File
		case syscall.S_IFDIR:
			return Dir
		}
	}
	return Other
}

// Mkdir makes a directory.
func (Host) Mkdir(dir string) error { return syscall.Mkdir(dir, 0o777) }

// MakeDirs makes a directory, and the missing ones above it, without following links. It returns
// those that it made, the uppermost first.
func MakeDirs(path string) (made []string) {
	at, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Close(at) }()
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	for end := 1; end <= len(path); end++ {
		if end < len(path) && path[end] != '/' {
			continue
		}
		name := path[strings.LastIndexByte(path[:end], '/')+1 : end]
		fd, err := unix.Openat(at, name, flags, 0)
		if err == unix.ENOENT && unix.Mkdirat(at, name, 0o700) == nil {
			made = append(made, path[:end])
			fd, err = unix.Openat(at, name, flags, 0)
		}
		if err != nil {
			return made
		}
		_ = unix.Close(at)
		at = fd
	}
	return made
}

// Unmake removes directories that Prepare made and that are still empty, the last first, when the
// run for which they were made does not happen.
func Unmake(made []string) {
	for i := len(made) - 1; i >= 0; i-- {
		_ = syscall.Rmdir(made[i]) // fails for a directory that holds files by now
	}
}

// Read reads at most 1 MiB of a document, which must be a plain file: sbx looks for these documents
// without being told to, and a FIFO would block it. found is false if there is no document.
func Read(path string) (text []byte, found bool, err error) {
	fd, err := spec.OpenPlain(path)
	if err == syscall.ENOENT || err == syscall.ENOTDIR {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, &spec.DecodeError{Name: path, Why: err.Error()}
	}
	defer func() { _ = syscall.Close(fd) }()
	text, err = spec.ReadFD(fd, path)
	return text, err == nil, err
}

func open(path string, flags int) (fd int, err error) {
	for {
		fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|flags, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}
