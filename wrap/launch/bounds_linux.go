package launch

import "sbx/wrap"

// Bounds are the limits that the supervisor holds itself.
type Bounds struct {
	Deadline *Deadline    // nil without a timeout
	Memory   *MemoryWatch // nil where a group bounds the memory, or nothing does
}

// Bounds begins to hold what no part of the kernel does. The command is about
// to be let go.
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

// Waiters are what the supervisor waits for.
func (b *Bounds) Waiters() (list []Waiter) {
	if b.Deadline != nil {
		list = append(list, b.Deadline.Waiter())
	}
	if b.Memory != nil {
		list = append(list, b.Memory.Waiter())
	}
	return list
}

// Close is for when the command has ended. What came of the limits stays.
func (b *Bounds) Close() {
	if b.Deadline != nil {
		b.Deadline.Close()
	}
	if b.Memory != nil {
		b.Memory.Close()
	}
}

// TimedOut reports whether the time was over before the command ended.
func (b *Bounds) TimedOut() bool { return b.Deadline != nil && b.Deadline.Hit }

// Ended is how many processes were ended for their memory.
func (b *Bounds) Ended() int {
	if b.Memory == nil {
		return 0
	}
	return b.Memory.Ended
}
