package launch

import "sbx/wrap"

// Bounds are the limits that the supervisor itself enforces.
type Bounds struct {
	Deadline *Deadline    // nil without a timeout
	Memory   *MemoryWatch // nil if a cgroup limits the memory or nothing does
}

// Bounds begins to enforce the limits that the kernel does not, just before the command
// starts.
func (c *child) Bounds(l *wrap.Limits) (b Bounds, err error) {
	if l.Timeout > 0 {
		if b.Deadline, err = c.Deadline(l.Timeout); err != nil {
			return b, stepError("timerfd_create", err)
		}
	}
	if l.Memory > 0 {
		if b.Memory, err = c.WatchMemory(l.Memory); err != nil {
			b.Close()
			return Bounds{}, stepError("timerfd_create", err)
		}
	}
	return b, nil
}

// Waiters returns what the supervisor must wait for.
func (b *Bounds) Waiters() (list []Waiter) {
	if b.Deadline != nil {
		list = append(list, b.Deadline.Waiter())
	}
	if b.Memory != nil {
		list = append(list, b.Memory.Waiter())
	}
	return list
}

// Close is called when the command has ended. TimedOut and Ended stay valid.
func (b *Bounds) Close() {
	if b.Deadline != nil {
		b.Deadline.Close()
	}
	if b.Memory != nil {
		b.Memory.Close()
	}
}

// TimedOut reports whether the time limit passed before the command ended.
func (b *Bounds) TimedOut() bool { return b.Deadline != nil && b.Deadline.Hit }

// Ended returns how many processes were killed because of their memory.
func (b *Bounds) Ended() int {
	if b.Memory == nil {
		return 0
	}
	return b.Memory.Ended
}
