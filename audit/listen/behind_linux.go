package listen

// landBehind is land for a path beneath one of the caller's descriptors, by way
// of /proc. It is good for telling alone: a thread with descriptors of its own
// has others than /proc/self does.
func (l *Listener) landBehind(a argument, b *scratch, how aim) landing {
	path, e := l.readInto(a.addr, b.path[:])
	if e != 0 {
		return landing{unread: true}
	}
	dirfd, rest, ok := ownFolder(path)
	if !ok {
		return landing{odd: true}
	}
	return l.landAt(dirfd, rest, b, how)
}

// lookBehind finds out where the names of a call lie that lead through /proc.
// Nothing but the telling depends on it any more.
func (l *Listener) lookBehind(c *nameCall, made, taken *landing) {
	if made.odd {
		*made = l.landBehind(l.argument(c.makes), &l.work[0], stays)
	}
	if taken.odd {
		*taken = l.landBehind(l.argument(c.takes), &l.work[1], stays)
	}
}
