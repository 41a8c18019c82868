package launch

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// reserve is how many of its user's processes (RLIMIT_NPROC) a sandbox leaves to
// its supervisor: threads for the connects that it makes, and for Go, which ends
// the process where none can be had. A command that forks until it is refused
// could end its supervisor so, and nothing would be swept.
const reservedProcesses = 96

// reserving calls clone with a smaller limit. Since Linux 5.14 a new user
// namespace keeps the limit of who makes it: all processes of the user count
// against that when one in the namespace forks, and against the caller's own limit
// when the supervisor does. The child gets back the caller's limit, which is the
// command's.
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
	_ = unix.Prlimit(0, unix.RLIMIT_NPROC, &own, nil) // up to the hard limit, as anybody may
	if e == unix.EAGAIN {                             // the user has hardly any left, but for these
		return clone()
	}
	if e == 0 {
		_ = unix.Prlimit(pid, unix.RLIMIT_NPROC, &own, nil) // a child that is gone is Ready's matter
	}
	return pid, e
}
