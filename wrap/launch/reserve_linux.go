package launch

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// reservedProcesses is how many of its user's processes (RLIMIT_NPROC) a sandbox leaves to
// its supervisor: for threads that connect on the command's behalf, and for the Go runtime,
// which ends the process if it cannot create a thread. Otherwise a command that forks up to
// the limit could end its supervisor that way, and nothing would be swept.
const reservedProcesses = 96

// cloneReserving calls clone with a smaller limit. Since Linux 5.14 a new user namespace
// keeps the limit of its creator: when a process in the namespace forks, all of the user's
// processes count against that limit; when the supervisor forks, they count against its own
// limit. The child gets the caller's limit back, for the command.
func cloneReserving(newUser bool, clone func() (int, syscall.Errno)) (pid int, e syscall.Errno) {
	var own unix.Rlimit
	if !newUser || unix.Prlimit(0, unix.RLIMIT_NPROC, nil, &own) != nil || own.Cur == unix.RLIM_INFINITY {
		return clone()
	}
	less := unix.Rlimit{Cur: own.Cur - min(reservedProcesses, own.Cur/2), Max: own.Max}
	if unix.Prlimit(0, unix.RLIMIT_NPROC, &less, nil) != nil {
		return clone()
	}
	pid, e = clone()
	_ = unix.Prlimit(0, unix.RLIMIT_NPROC, &own, nil) // raising it up to the hard limit is always permitted
	if e == unix.EAGAIN {                             // the user has no more processes left than those reserved
		return clone()
	}
	if e == 0 {
		_ = unix.Prlimit(pid, unix.RLIMIT_NPROC, &own, nil) // if the child is gone, Ready returns the reason
	}
	return pid, e
}
