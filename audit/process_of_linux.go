package audit

import "strconv"

// ProcessOf is another process of the caller's own pid namespace, as it is now.
// What /proc does not tell is left absent.
func ProcessOf(pid int) Process {
	p := Process{PID: pid, BootID: bootID(), Namespace: pidNamespace()}
	var buf [1024]byte
	if n := readInto("/proc/"+strconv.Itoa(pid)+"/stat", buf[:]); n > 0 {
		_, p.Start = parseStat(buf[:n])
	}
	return p
}

// Runs tells that the process certainly runs.
func (p Process) Runs() bool { return p.life(Self()) == lifeRuns }

// Gone tells that the process has certainly ended. Of one in another pid
// namespace neither can be told.
func (p Process) Gone() bool { return p.life(Self()) == lifeEnded }

// Supervisor is the process that a record names as its own.
func (v View) Supervisor() Process {
	return Process{
		PID:       int(Whole(v.Node.Get("pid")).Value),
		Start:     Whole(v.Node.Get("pid_start")),
		Namespace: Whole(v.Node.Get("pid_namespace")),
		BootID:    Text(v.Node.Get("boot_id")),
	}
}
