package run

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap/defaults"
)

// checkDescriptors checks the descriptors that the command inherits from the caller, before
// anything is planned.
func (x *journal) checkDescriptors() error {
	if !x.Resolved.SideDoors {
		return nil
	}
	fds := append([]int{0, 1, 2}, x.Keep...)
	if err := checkFDs(fds); err != nil || x.DryRun {
		return err
	}
	return x.replaceProtectedInputs(fds)
}

// Kinds of file systems whose descriptors lead out of a sandbox.
const (
	nsfsMagic   = 0x6e736673 // NSFS_MAGIC, <linux/magic.h>
	anonFSMagic = 0x09041934 // ANON_INODE_FS_MAGIC: kernel objects without a file system, such as those of epoll and fsopen
)

// checkFDs rejects descriptors that lead out of the sandbox: openat(0, "../..") does if 0
// is a directory, and setns(2) if it is a namespace.
func checkFDs(fds []int) error {
	for _, fd := range fds {
		what := ""
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			continue // the descriptor is not open
		}
		var fs unix.Statfs_t
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if unix.Fstatfs(fd, &fs) != nil {
			fs.Type = anonFSMagic // it may be any kind of object
		}
		switch {
		case st.Mode&unix.S_IFMT == unix.S_IFDIR:
			what = "a directory"
		case err == nil && flags&unix.O_PATH != 0:
			what = "an O_PATH descriptor"
		case fs.Type == nsfsMagic:
			what = "a namespace"
		case fs.Type == anonFSMagic && isMountFD(fd):
			what = "a mount"
		}
		if what != "" {
			return &spec.Problem{On: "descriptor " + strconv.Itoa(fd), Do: "hand it to the command",
				Why: "it is " + what + ", a way out of the sandbox", Help: "redirect it, as with " + strconv.Itoa(fd) + "</dev/null"}
		}
	}
	return nil
}

// isMountFD reports whether fd is a file system context of fsopen(2) or fspick(2).
func isMountFD(fd int) bool {
	return strings.HasPrefix(read.Link(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd)), "anon_inode:[fscontext]")
}

// replaceProtectedInputs replaces each descriptor that is open for reading on a protected file, or
// on a document of the spec, by a pipe with the rest of the file. The original descriptor refers to
// the host's mount, which is writable: a program could open it again for writing through
// /proc/self/fd, and Landlock cannot deny that inside of a writable workspace.
func (x *journal) replaceProtectedInputs(fds []int) error {
	for _, fd := range fds {
		path, ok := x.isProtectedInput(fd)
		if !ok {
			continue
		}
		if err := throughPipe(fd); err != nil {
			return &spec.Problem{On: "descriptor " + strconv.Itoa(fd), Do: "hand " + path + " to the command",
				Why: "it may only be read inside, but could be opened again for writing: " + err.Error(), Help: "pipe it in, as with cat " + path + " |"}
		}
	}
	return nil
}

// isProtectedInput reports whether fd is a file that the command may only read, although
// it lies in a writable directory.
func (x *journal) isProtectedInput(fd int) (path string, is bool) {
	var st unix.Stat_t
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDONLY || unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return "", false
	}
	if path = read.Link(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd)); !strings.HasPrefix(path, "/") {
		return "", false
	}
	for _, s := range x.sourcePaths() {
		if isFile(s, &st) {
			return path, true
		}
	}
	trees := []string{}
	for i := range x.Resolved.Write {
		if w := &x.Resolved.Write[i]; w.IsDir {
			trees = append(trees, w.Real)
		}
	}
	// Inodes are compared and not paths, since another mount may show the same directory.
	for end := strings.LastIndexByte(path, '/'); end > 0; end = strings.LastIndexByte(path[:end], '/') {
		rel := path[end+1:]
		if _, is := defaults.IsProtectedName(rel); !is {
			continue
		}
		var dir unix.Stat_t
		if unix.Stat(path[:end], &dir) != nil {
			continue
		}
		for _, t := range trees {
			if isFile(t, &dir) {
				return path, true
			}
		}
	}
	return "", false
}

func isFile(path string, as *unix.Stat_t) bool {
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil && st.Dev == as.Dev && st.Ino == as.Ino
}

// isRunningProgram reports whether a file is the running program.
func isRunningProgram(path string) bool {
	var own unix.Stat_t
	return unix.Stat("/proc/self/exe", &own) == nil && isFile(path, &own)
}

// throughPipe replaces fd by a pipe that holds the rest of its file.
func throughPipe(fd int) error {
	text, err := spec.ReadFD(fd, "") // reads at most 1 MiB; by default a pipe can hold that much (/proc/sys/fs/pipe-max-size)
	if err != nil {
		return err
	}
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	defer unix.Close(p[0])
	defer unix.Close(p[1])
	if size, err := unix.FcntlInt(uintptr(p[1]), unix.F_GETPIPE_SZ, 0); err != nil || size < len(text) {
		if _, err := unix.FcntlInt(uintptr(p[1]), unix.F_SETPIPE_SZ, len(text)); err != nil {
			return err
		}
	}
	if err := sys.WriteAll(p[1], text); err != nil {
		return err
	}
	return unix.Dup3(p[0], fd, 0)
}

// closeCopies closes the supervisor's copies of descriptors that the command has now: a pipe's
// reader must see its end when the command closes it, not when the supervisor ends.
func closeCopies(fds ...int) {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	for _, fd := range fds {
		_ = unix.Dup3(null, fd, 0) // best effort: the command has a copy of its own
	}
	unix.Close(null)
}
