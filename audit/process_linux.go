package audit

import (
	"strconv"
	"strings"

	"sbx/internal/read"
	"sbx/spec"

	"golang.org/x/sys/unix"
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
	_, start := stateOf("self")
	return Process{unix.Getpid(), start, bootID(), pidNamespace()}
}

// ProcessOf describes a process in the caller's pid namespace. Fields that /proc does not show are
// absent.
func ProcessOf(pid int) Process {
	_, start := stateOf(strconv.Itoa(pid))
	return Process{pid, start, bootID(), pidNamespace()}
}

// Runs reports whether the process certainly runs.
func (p Process) Runs() bool { return p.life(Self()) == lifeRuns }

// Gone reports whether the process has certainly ended. For a process in another pid namespace
// both Runs and Gone are false.
func (p Process) Gone() bool { return p.life(Self()) == lifeEnded }

// Supervisor returns the supervisor's process by the record.
func (v View) Supervisor() Process {
	return Process{
		PID:       int(Whole(v.Node.Get("pid")).Value),
		Start:     Whole(v.Node.Get("pid_start")),
		Namespace: Whole(v.Node.Get("pid_namespace")),
		BootID:    Text(v.Node.Get("boot_id")),
	}
}

// CallerOf returns the process of a thread and the name of that process: the first 15 bytes of
// its program's name, unless it has chosen another. Names of its threads do not count. If the
// process is gone the name is "".
func CallerOf(tid int) (pid int, program string) {
	pid, err := strconv.Atoi(read.StatusLine(read.Status(strconv.Itoa(tid)), "Tgid:")) // a newline in the name above is escaped
	if err != nil {
		return tid, ""
	}
	comm, _ := read.Proc("/proc/"+strconv.Itoa(pid)+"/comm", 256)
	return pid, strings.TrimSuffix(string(comm), "\n")
}

func bootID() string {
	b, _ := read.Proc("/proc/sys/kernel/random/boot_id", 64)
	return strings.TrimSpace(string(b))
}

func pidNamespace() spec.Opt[int64] {
	var st unix.Stat_t
	if unix.Stat("/proc/self/ns/pid", &st) != nil {
		return spec.Opt[int64]{}
	}
	return spec.Some(int64(st.Ino))
}

// stateOf returns the state and the start time of a process from /proc/PID/stat; "" if it is not
// there.
func stateOf(process string) (state string, start spec.Opt[int64]) {
	f := read.StatFields(process)
	if len(f) <= read.StatStart {
		return "", start
	}
	n, err := strconv.ParseInt(f[read.StatStart], 10, 64)
	return f[read.StatState], spec.Opt[int64]{Value: n, Set: err == nil}
}

// life says whether a process still runs.
type life uint8

const (
	lifeUnknown life = iota
	lifeRuns
	lifeEnded
)

// life returns whether p runs, as the process self can tell.
func (p Process) life(self Process) life {
	switch {
	case p.BootID == "" || self.BootID == "":
		return lifeUnknown
	case p.BootID != self.BootID:
		return lifeEnded
	case p.PID <= 0 || !p.Start.Set || p.Namespace != self.Namespace:
		return lifeUnknown
	}
	switch state, start := stateOf(strconv.Itoa(p.PID)); {
	case state == "" && unix.Kill(p.PID, 0) == unix.ESRCH: // a /proc with hidepid hides processes that still run
		return lifeEnded
	case !start.Set:
		return lifeUnknown
	case start != p.Start, state == "Z", state == "X":
		return lifeEnded
	}
	return lifeRuns
}
