package launch

import "golang.org/x/sys/unix"

// lead and turn are what the thread that answers has more than its caller: niceness
// towards itself, and a shorter slice, nanoseconds, which only brings its turns
// sooner. Whoever waits for an answer stands still, so this takes nothing from the
// command; without, the command, once answered, pushes the supervisor aside before
// that waits again, and the two part for different processors (the scheduler since
// Linux 6.6; sched_setattr(2) sets slices since 6.12).
const (
	niceLead         = 10
	sliceNanoseconds = 100_000
)

// raisePriority gives the calling thread its lead where it may have one (CAP_SYS_NICE,
// RLIMIT_NICE), else the turns alone, and tells how to give it up. Threads and
// processes that it starts meanwhile have neither (SCHED_FLAG_RESET_ON_FORK,
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
