package main

import (
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/internal/run"
	"sbx/internal/sys"
	"sbx/spec"
)

// enter changes the current directory.
func enter(dir string) error {
	if err := unix.Chdir(dir); err != nil {
		return &spec.Problem{On: dir, Do: "go where the command ran", Why: err.Error()}
	}
	return nil
}

// openDirOf opens the directory of a file that is to be created. It refuses a path with
// a link that an earlier command may have left.
func (c *documentSet) openDirOf(name string) (fd int, err error) {
	cwd, err := c.startsIn()
	if err != nil {
		return -1, err
	}
	document, err := spec.Decode(defaultName, []byte(defaultSpec))
	if err != nil {
		return -1, err
	}
	dir := name[:strings.LastIndexByte(name, '/')+1]
	p, refusal := run.Follow(dir, c.inputs(cwd), []*spec.SandboxSpec{document})
	if refusal == nil && !p.Exists {
		refusal = &spec.Problem{Why: "its directory is not there", Help: "make the directory first"}
	}
	if refusal == nil {
		if fd, err = dirs.OpenReal(p.Real, unix.O_PATH|unix.O_DIRECTORY); err == nil {
			return fd, nil
		}
		refusal = &spec.Problem{Why: err.Error()}
	}
	refusal.On, refusal.Do = name, "write the spec"
	return -1, refusal
}

func closeDir(fd int) { _ = unix.Close(fd) }

// writeNew writes a file that must not exist yet.
func writeNew(dir int, name string, text []byte) error {
	fd, err := unix.Openat(dir, path.Base(name), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o666)
	if err == nil {
		if sys.WriteAll(fd, append(text, '\n')) != nil {
			err = unix.EIO
		}
		unix.Close(fd)
	}
	switch err {
	case nil:
		return nil
	case unix.EEXIST:
		return alreadyThere(name)
	}
	return &spec.Problem{On: name, Do: "write the spec", Why: err.Error()}
}

func alreadyThere(name string) error {
	return &spec.Problem{On: name, Do: "write the spec", Why: "it is there already", Help: "name a file that is not, and compare the two"}
}

// isIn reports whether a name exists in a directory.
func isIn(dir int, name string) bool {
	return unix.Faccessat(dir, path.Base(name), unix.F_OK, unix.AT_SYMLINK_NOFOLLOW) == nil
}
