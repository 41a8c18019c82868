package wrap

import (
	"math"
	"slices"
	"strconv"
	"time"

	"sbx/spec"
)

// Limits has the limits of the command and its descendants. A zero means no limit.
type Limits struct {
	Files    uint64 // RLIMIT_NOFILE, of each process
	FileSize uint64 // RLIMIT_FSIZE, of each file
	// Procs is RLIMIT_NPROC. It is counted in the sandbox's own user namespace, pid 1 included.
	// Without such a namespace all processes of the user count.
	Procs   uint64
	Timeout time.Duration // the supervisor ends the tree
	// Memory is enforced by the supervisor where no control group can be made: it ends the largest
	// process of a tree that uses more.
	Memory int64
	Groups []Group
}

// Any reports whether there is any limit.
func (l *Limits) Any() bool {
	return l.Files|l.FileSize|l.Procs != 0 || l.Timeout != 0 || l.Memory != 0 || len(l.Groups) > 0
}

// Confines reports whether a group limits the tree's memory. The kernel must not end a process
// there that still shares its memory with the supervisor.
func (l *Limits) Confines() bool {
	return slices.ContainsFunc(l.Groups, func(g Group) bool { return slices.Contains(g.Controllers, Memory) })
}

// Controller is a resource controller of control groups (cgroups(7)).
type Controller uint8

// These are the controllers that sbx uses. CPUAcct exists only in version 1, and only counts.
const (
	Memory Controller = iota
	CPU
	PIDs
	CPUAcct
	Controllers = 4
)

// Group is a control group that is made for the command and its descendants, and removed after they
// have ended. Pid 1 of the sandbox is never in it.
type Group struct {
	Version     int    // 1 or 2
	Dir         string // the directory in which it is made
	Controllers []Controller
	// Enable lists the controllers that must first be enabled for Dir's children. With Leaf the
	// supervisor leaves Dir before, since a group with processes enables no controllers for its
	// children (cgroups(7), "no internal processes").
	Enable []Controller
	Leaf   bool
	// Threaded makes the group a threaded one under a group that has processes. The rule above
	// applies to controllers like memory's, not to those that can manage threads (cgroups(7)).
	Threaded bool
	Write    []Setting // in this order
	Soft     bool      // the group only counts, so it may fail to be made
}

// Setting is a file of a group and the text to write into it.
type Setting struct{ File, Value string }

// GroupHost says where this host lets a group be made for one controller.
type GroupHost struct {
	Answer          // Unknown: not looked at
	Version  int    // 1 or 2; 0 if the host does not have the controller
	Dir      string // the directory in which a group can be made
	Enable   bool   // Dir does not enable the controller for its children yet
	Leaf     bool   // only the supervisor is in Dir, and it must leave for that
	Threaded bool   // other processes are in Dir, and stay
	Swap     bool   // swap can be limited as well
	Sockets  bool   // the buffers of sockets can be limited as well
}

// These are in microseconds: the shortest time that the scheduler grants at once, and the period by
// which it counts (Documentation/scheduler/sched-bwc.rst).
const (
	minQuota   = 1000
	period     = 100_000
	longPeriod = 1_000_000 // of a quota that would otherwise be too short
)

// MostProcesses is the limit for a sandbox whose spec sets no limits.pids. It is higher than the
// number of processes and threads of a build, and low enough that a command which forks without end
// leaves half of the machine's processes to others.
func (h *Host) MostProcesses() uint64 { return min(spec.MostPIDs, h.Processes/2) }

// Unbounded reports whether only a control group can enforce that limit: for root, whose processes
// RLIMIT_NPROC does not count, on a kernel before 6.14, which has no pid_max for each pid
// namespace.
func (h *Host) Unbounded(r *spec.Resolved) bool {
	o := Open(r, h)
	return h.UID == 0 && h.Parent == nil && h.Processes != 0 && !r.Spec.Limits.Value.PIDs.Set && o.Processes == 0
}

// maxPIDs is the greatest value of pids.max: the kernel has no more pids (PID_MAX_LIMIT).
const maxPIDs = 4 << 20

// Quota returns a number of processors as a quota of a period, both in microseconds.
func Quota(cpus float64) (us, of int64) {
	if us = int64(cpus * period); us >= minQuota {
		return us, period
	}
	return max(int64(cpus*longPeriod), minQuota), longPeriod
}

// socketShare returns the part of a group's memory limit that is for the buffers of sockets, where
// version 1 counts them separately: both parts add up to the limit. A sender whose buffers are full
// waits, or sends less at once; nothing fails. The share is a multiple of whole pages.
func socketShare(bytes int64) int64 { return bytes / 16 &^ (64<<10 - 1) }

// memorySettings returns the settings that limit the memory of a group. Swap is included, because
// swapped memory belongs to the tree, too.
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
	} else if h.Swap { // memory and swap together; must not be below the memory limit
		set = append(set, Setting{"memory.memsw.limit_in_bytes", n})
	}
	if h.Version == 1 && h.Sockets {
		set = append(set, Setting{SocketsFile, strconv.FormatInt(share, 10)})
	}
	return set
}

// SocketsFile limits the TCP and UDP buffers of sockets in a group of version 1.
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

// String returns the limit in the form of --ulimit, with -1 for unlimited.
func (l Rlimit) String() string { return rlimit(l.Soft) + ":" + rlimit(l.Hard) }

func rlimit(n uint64) string {
	if n == math.MaxUint64 {
		return "-1"
	}
	return strconv.FormatUint(n, 10)
}

// GroupLimits returns the limits that need control groups.
func GroupLimits() []spec.Field { return []spec.Field{"limits.memory", "limits.cpus", "limits.pids"} }
