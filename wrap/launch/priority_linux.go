package launch

import "golang.org/x/sys/unix"

// niceLead is by how much the answering thread lowers its nice value. sliceNanoseconds is its
// scheduling slice; a shorter slice only brings its turns sooner. A process that waits for an
// answer does not run, so this takes nothing from the command. Without it the command, once
// answered, preempts the supervisor before that waits again, and the scheduler moves them to
// different processors (since Linux 6.6; sched_setattr(2) sets slices since 6.12).
const (
	niceLead         = 10
	sliceNanoseconds = 100_000
)

// raisePriority raises the calling thread's priority if permitted (CAP_SYS_NICE,
// RLIMIT_NICE), otherwise it only shortens the slice. It returns a function that undoes
// this. Threads and processes started in between do not inherit it (SCHED_FLAG_RESET_ON_FORK,
// sched(7)).
func raisePriority() (back func()) {
	is, err := unix.SchedGetAttr(0, 0)
	if err != nil || is.Policy != unix.SCHED_NORMAL {
		return func() {}
	}
	set := func(nice int32, slice uint64) error {
		return unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL,
			Flags: unix.SCHED_FLAG_RESET_ON_FORK, Nice: nice, Runtime: slice}, 0)
	}
	if set(max(is.Nice-niceLead, -20), sliceNanoseconds) != nil {
		_ = set(is.Nice, sliceNanoseconds)
	}
	return func() { _ = set(is.Nice, is.Runtime) }
}
