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
		if err != nil || flags&unix.FD_CLOEXEC != 0 { // a close-on-exec descriptor is sbx's own, not the caller's
			return nil, &spec.Problem{On: "--keep-fd " + w, Do: "keep the descriptor", Why: "it is not open"}
		}
		fds = append(fds, n)
	}
	slices.Sort(fds)
	return slices.Compact(fds), nil
}

// apartFromStderr redirects stdout to stderr, and returns a descriptor of the old stdout.
func apartFromStderr(std streams) (out int, err error) {
	if out, err = unix.FcntlInt(uintptr(std.out), unix.F_DUPFD_CLOEXEC, 10); err == nil {
		err = unix.Dup3(std.err, std.out, 0)
	}
	return out, err
}

// jobserver returns the two ends of the pipe by which make limits its parallel jobs, as
// MAKEFLAGS names them; nil if that is not an inherited pipe. make passes them to a recipe
// that it takes for another make.
func jobserver(makeflags string) []int {
	ends := ""
	for word := range strings.FieldsSeq(makeflags) {
		if word == "--" { // variables follow
			break
		}
		for _, flag := range [...]string{"--jobserver-auth=", "--jobserver-fds="} { // the second name is used before make 4.2
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

// nullStdin replaces stdin, from which the spec was read, by /dev/null.
func nullStdin(fd int) error {
	null, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &spec.Problem{On: "/dev/null", Do: "open it for stdin", Why: err.Error()}
	}
	defer unix.Close(null)
	return unix.Dup3(null, fd, 0)
}
