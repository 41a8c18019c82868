package listen

// landBehind is land for a path beneath one of the caller's descriptors, by way
// of /proc. It is good for telling alone: a thread with descriptors of its own
// has others than /proc/self does.
func (p *paths) landBehind(a argument, b *scratch, how aim) landing {
	path, e := p.readInto(a.addr, b.path[:])
	if e != 0 {
		return landing{unread: true}
	}
	dirfd, rest, ok := ownFolder(path)
	if !ok {
		return landing{odd: true}
	}
	return p.landAt(dirfd, rest, b, how)
}

// lookBehind finds out where the names of a call lie that lead through /proc.
// Nothing but the telling depends on it any more.
func (n *namer) lookBehind(c *nameCall, made, taken *landing) {
	if made.odd {
		*made = n.landBehind(n.argument(c.makes), &n.work[0], stays)
	}
	if taken.odd {
		*taken = n.landBehind(n.argument(c.takes), &n.work[1], stays)
	}
}
