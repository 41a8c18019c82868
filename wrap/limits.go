package wrap

import (
	"math"
	"slices"
	"strconv"
	"time"

	"sbx/spec"
)

// Limits bounds what the command and its descendants may use. What is zero is
// not bounded.
type Limits struct {
	Files    uint64 // RLIMIT_NOFILE, of each process
	FileSize uint64 // RLIMIT_FSIZE, of each file
	// Procs is RLIMIT_NPROC: counted in the sandbox's own user namespace, of which
	// pid 1 is one, and without one all of the user's processes.
	Procs   uint64
	Timeout time.Duration // the supervisor ends the tree
	// Memory is what the supervisor looks after where no group can: it ends the
	// largest process of a tree that has more.
	Memory int64
	Groups []Group
}

// Any reports whether anything is bounded.
func (l *Limits) Any() bool {
	return l.Files|l.FileSize|l.Procs != 0 || l.Timeout != 0 || l.Memory != 0 || len(l.Groups) > 0
}

// Confines reports whether a group bounds the tree's memory. A process that
// still shares its memory with the supervisor must not be ended there.
func (l *Limits) Confines() bool {
	return slices.ContainsFunc(l.Groups, func(g Group) bool { return slices.Contains(g.Controllers, Memory) })
}

// Controller is a resource controller of control groups (cgroups(7)).
type Controller uint8

// The controllers that sbx uses; CPUAcct is v1's alone, and only counts.
const (
	Memory Controller = iota
	CPU
	PIDs
	CPUAcct
	Controllers = 4
)

// Group is a control group that is made for the command and its descendants,
// and removed after them. Pid 1 of the sandbox is never in it.
type Group struct {
	Version     int    // 1 or 2
	Dir         string // in which it is made
	Controllers []Controller
	// Enable are the controllers that Dir must first be told to hand down; with
	// Leaf the supervisor leaves it before, since no group that has processes
	// hands controllers down (cgroups(7), "no internal processes").
	Enable []Controller
	Leaf   bool
	// Threaded makes a group under one that has processes: the rule above is for
	// controllers of memory and the like, not for those of threads (cgroups(7)).
	Threaded bool
	Write    []Setting // in this order
	Soft     bool      // it only counts: that it cannot be made is no failure
}

// Setting is a file of a group and what is written into it.
type Setting struct{ File, Value string }

// GroupHost is where this host lets a group be made for one controller.
type GroupHost struct {
	Answer          // Unknown: not looked at
	Version  int    // 1 or 2; 0 where the host does not have the controller
	Dir      string // in which a group can be made
	Enable   bool   // Dir does not hand the controller down yet
	Leaf     bool   // the supervisor alone is in Dir, and must leave it for that
	Threaded bool   // others are in Dir, and stay
	Swap     bool   // swap can be bounded as well
	Sockets  bool   // and the buffers of sockets
}

// The shortest time that the scheduler gives at once, and the period by which
// it counts (Documentation/scheduler/sched-bwc.rst), in microseconds.
const (
	minQuota   = 1000
	period     = 100_000
	longPeriod = 1_000_000 // of a quota that would be too short otherwise
)

// MostProcesses bounds a sandbox whose spec has no limits.pids: more processes and
// threads than a build has, and few enough that a command which forks without end
// leaves half of the machine's to others.
func (h *Host) MostProcesses() uint64 { return min(spec.MostPIDs, h.Processes/2) }

// Unbounded reports whether that many are bounded by nothing but a control group: the
// kernel counts no process of root's for RLIMIT_NPROC, and gives a pid namespace a
// pid_max of its own since Linux 6.14.
func (h *Host) Unbounded(r *spec.Resolved) bool {
	o := Open(r, h)
	return h.UID == 0 && h.Parent == nil && h.Processes != 0 && !r.Spec.Limits.Value.PIDs.Set && o.Processes == 0
}

// maxPIDs is the most that pids.max takes: the kernel has no more (PID_MAX_LIMIT).
const maxPIDs = 4 << 20

// Quota is processors' worth of time as a quota of a period.
func Quota(cpus float64) (us, of int64) {
	if us = int64(cpus * period); us >= minQuota {
		return us, period
	}
	return max(int64(cpus*longPeriod), minQuota), longPeriod
}

// socketShare is the part of a group's memory that is for the buffers of sockets
// where version 1 counts them apart: both together are what was asked for. Who has
// filled it waits, or sends less at once; nothing fails. It is of whole pages.
func socketShare(bytes int64) int64 { return bytes / 16 &^ (64<<10 - 1) }

// memorySettings bound the memory of a group, swap included: what is swapped
// out is the tree's, too.
func memorySettings(h *GroupHost, bytes int64) []Setting {
	share := int64(0)
	if h.Version == 1 && h.Sockets {
		share = socketShare(bytes)
	}
	n := strconv.FormatInt(bytes-share, 10)
	set := []Setting{{"memory.limit_in_bytes", n}}
	if h.Version == 2 {
		set[0].File = "memory.max"
	}
	if h.Swap && h.Version == 2 {
		set = append(set, Setting{"memory.swap.max", "0"})
	} else if h.Swap { // of memory and swap together; not below the other
		set = append(set, Setting{"memory.memsw.limit_in_bytes", n})
	}
	if h.Version == 1 && h.Sockets {
		set = append(set, Setting{SocketsFile, strconv.FormatInt(share, 10)})
	}
	return set
}

// SocketsFile bounds, in a group of version 1, the buffers of its sockets, TCP's and UDP's.
const SocketsFile = "memory.kmem.tcp.limit_in_bytes"

func cpuSettings(h *GroupHost, cpus float64) []Setting {
	us, of := Quota(cpus)
	if h.Version == 2 {
		return []Setting{{"cpu.max", strconv.FormatInt(us, 10) + " " + strconv.FormatInt(of, 10)}}
	}
	return []Setting{{"cpu.cfs_period_us", strconv.FormatInt(of, 10)}, {"cpu.cfs_quota_us", strconv.FormatInt(us, 10)}}
}

func pidsSettings(n int) []Setting { return []Setting{{"pids.max", strconv.Itoa(min(n, maxPIDs))}} }

// Rlimit is a limit of the caller's processes (getrlimit(2)).
type Rlimit struct{ Soft, Hard uint64 }

// String is the limit as --ulimit takes it, -1 for none.
func (l Rlimit) String() string { return rlimit(l.Soft) + ":" + rlimit(l.Hard) }

func rlimit(n uint64) string {
	if n == math.MaxUint64 {
		return "-1"
	}
	return strconv.FormatUint(n, 10)
}

// GroupLimits are the limits that want control groups.
func GroupLimits() []spec.Field { return []spec.Field{"limits.memory", "limits.cpus", "limits.pids"} }
