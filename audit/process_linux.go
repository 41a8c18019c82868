package audit

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	"sbx/internal/dirs"
	"sbx/spec"
)

// Process identifies a process for ever. Its pid alone does not, as the kernel uses pids again;
// together with start time, boot and pid namespace it does.
type Process struct {
	PID       int
	Start     spec.Opt[int64] // clock ticks since boot: field 22 of /proc/PID/stat
	BootID    string
	Namespace spec.Opt[int64] // the inode of its pid namespace
}

// Self describes the calling process. Fields that /proc does not show are absent.
func Self() Process {
	p := Process{PID: unix.Getpid()}
	var buf [1024]byte
	if n := readInto("/proc/self/stat", buf[:]); n > 0 {
		_, p.Start = parseStat(buf[:n])
	}
	p.BootID = bootID()
	p.Namespace = pidNamespace()
	return p
}

// CallerOf returns the process of a thread and the name of that process: the first 15 bytes of
// its program's name, unless it has chosen another. Names of its threads do not count. If the
// process is gone the name is "".
func CallerOf(tid int) (pid int, program string) {
	var buf [256]byte
	n := readInto("/proc/"+strconv.Itoa(tid)+"/status", buf[:])
	_, rest, _ := bytes.Cut(buf[:n], []byte("\nTgid:\t")) // a newline in the name above is escaped
	digits, _, _ := bytes.Cut(rest, []byte{'\n'})
	pid, err := strconv.Atoi(string(digits))
	if err != nil {
		return tid, ""
	}
	n = readInto("/proc/"+strconv.Itoa(pid)+"/comm", buf[:])
	return pid, string(bytes.TrimSuffix(buf[:n], []byte{'\n'}))
}

func bootID() string {
	var buf [64]byte
	n := readInto("/proc/sys/kernel/random/boot_id", buf[:])
	return string(bytes.TrimSpace(buf[:n]))
}

func pidNamespace() spec.Opt[int64] {
	var st unix.Stat_t
	if unix.Stat("/proc/self/ns/pid", &st) != nil {
		return spec.Opt[int64]{}
	}
	return spec.Some(int64(st.Ino))
}

// parseStat reads the state and the start time from /proc/PID/stat. The
// command's name stands in parentheses and may itself hold any of them.
func parseStat(b []byte) (state byte, start spec.Opt[int64]) {
	i := bytes.LastIndexByte(b, ')')
	if i < 0 || i+2 >= len(b) {
		return 0, start
	}
	f := strings.Fields(string(b[i+2:])) // f[0] is field 3
	if len(f) < 20 || len(f[0]) != 1 {
		return 0, start
	}
	n, err := strconv.ParseInt(f[19], 10, 64)
	if err != nil {
		return 0, start
	}
	return f[0][0], spec.Some(n)
}

// life is whether a process still runs.
type life uint8

const (
	lifeUnknown life = iota
	lifeRuns
	lifeEnded
)

// life looks for p from the process self.
func (p Process) life(self Process) life {
	switch {
	case p.BootID == "" || self.BootID == "":
		return lifeUnknown
	case p.BootID != self.BootID:
		return lifeEnded
	case p.PID <= 0 || !p.Start.Set || p.Namespace != self.Namespace:
		return lifeUnknown
	}
	var buf [1024]byte
	n := readInto("/proc/"+strconv.Itoa(p.PID)+"/stat", buf[:])
	if n <= 0 {
		// A /proc with hidepid hides processes that still run.
		if unix.Kill(p.PID, 0) == unix.ESRCH {
			return lifeEnded
		}
		return lifeUnknown
	}
	state, start := parseStat(buf[:n])
	switch {
	case !start.Set:
		return lifeUnknown
	case start != p.Start, state == 'Z', state == 'X':
		return lifeEnded
	}
	return lifeRuns
}

// readInto reads the beginning of a file and returns the length, 0 on an error.
func readInto(path string, buf []byte) int {
	fd, err := dirs.Open(unix.AT_FDCWD, path, unix.O_RDONLY, 0)
	if err != nil {
		return 0
	}
	defer dirs.Close(fd)
	n, err := dirs.ReadFull(fd, buf)
	if err != nil {
		return 0
	}
	return n
}
