package audit

import "strconv"

// ProcessOf describes a process in the caller's pid namespace. Fields that /proc does not show are
// absent.
func ProcessOf(pid int) Process {
	p := Process{PID: pid, BootID: bootID(), Namespace: pidNamespace()}
	var buf [1024]byte
	if n := readInto("/proc/"+strconv.Itoa(pid)+"/stat", buf[:]); n > 0 {
		_, p.Start = parseStat(buf[:n])
	}
	return p
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
