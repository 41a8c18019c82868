package main

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/spec"
)

// keepFDs reads the numbers of --keep-fd.
func keepFDs(words []string) ([]int, error) {
	var fds []int
	for _, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil || n < 3 || n > 1<<20 {
			return nil, usageError("--keep-fd wants a number of 3 or more, not " + spec.Word(w))
		}
		flags, err := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 { // what is closed on exec is sbx's own, not the caller's
			return nil, &spec.Problem{On: "--keep-fd " + w, Do: "keep the descriptor", Why: "it is not open"}
		}
		fds = append(fds, n)
	}
	slices.Sort(fds)
	return slices.Compact(fds), nil
}

// jobserver is the two ends of the pipe by which make bounds the jobs of all that it
// runs, as MAKEFLAGS names them: none where that is no pipe of the caller's. make hands
// them on to a recipe that it takes for a make of its own.
func jobserver(makeflags string) []int {
	ends := ""
	for word := range strings.FieldsSeq(makeflags) {
		if word == "--" { // variables follow
			break
		}
		for _, flag := range [...]string{"--jobserver-auth=", "--jobserver-fds="} { // the second before make 4.2
			if value, ok := strings.CutPrefix(word, flag); ok {
				ends = value
			}
		}
	}
	r, w, _ := strings.Cut(ends, ",")
	fds, err := keepFDs([]string{r, w})
	if err != nil || len(fds) != 2 {
		return nil
	}
	var pipe, other unix.Stat_t
	if unix.Fstat(fds[0], &pipe) != nil || unix.Fstat(fds[1], &other) != nil ||
		pipe.Mode&unix.S_IFMT != unix.S_IFIFO || pipe.Dev != other.Dev || pipe.Ino != other.Ino {
		return nil
	}
	return fds
}

// Kinds of file systems whose descriptors lead out of a sandbox.
const (
	nsfsMagic   = 0x6e736673 // NSFS_MAGIC, <linux/magic.h>
	anonFSMagic = 0x09041934 // ANON_INODE_FS_MAGIC: what has no file system of its own, epoll and fsopen among it
)

// checkFDs refuses descriptors through which the command would get out:
// openat(0, "../..") leaves the sandbox where 0 is a folder, setns(2) where it
// is a namespace.
func checkFDs(fds []int) error {
	for _, fd := range fds {
		what := ""
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			continue // closed: the Go runtime has put /dev/null there, or it was never open
		}
		var fs unix.Statfs_t
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if unix.Fstatfs(fd, &fs) != nil {
			fs.Type = anonFSMagic // any kind may be behind it
		}
		switch {
		case st.Mode&unix.S_IFMT == unix.S_IFDIR:
			what = "a folder"
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

// isMountFD tells a file system context of fsopen(2) or fspick(2).
func isMountFD(fd int) bool {
	var buf [64]byte
	n, err := unix.Readlink("/proc/self/fd/"+strconv.Itoa(fd), buf[:])
	return err == nil && strings.HasPrefix(string(buf[:n]), "anon_inode:[fscontext]")
}

// nullStdin puts /dev/null on stdin, which the spec was read from.
func nullStdin(fd int) error {
	null, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &spec.Problem{On: "/dev/null", Do: "open it for stdin", Why: err.Error()}
	}
	defer unix.Close(null)
	return unix.Dup3(null, fd, 0)
}

// leave lets go of descriptors that the command has now: a pipe's reader sees
// its end when the command closes it, not when the supervisor ends.
func leave(fds ...int) {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	for _, fd := range fds {
		_ = unix.Dup3(null, fd, 0) // best effort: the command has its own
	}
	unix.Close(null)
}
