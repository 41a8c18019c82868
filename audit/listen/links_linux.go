package listen

import "golang.org/x/sys/unix"

// plants is the landing where a call would have a symbolic link stand that must
// not be there; nil for none. A path through /proc is told by lookBehind, and so
// by the thread's descriptors as they are now: what is wrong then is swept.
func (n *namer) plants(c *nameCall, made, taken, from *landing, swaps bool) *landing {
	if n.rules.Links == nil || c.makes == nowhere {
		return nil
	}
	isLink := func(d *landing) bool { return d.ok && d.exists && d.kind == unix.S_IFLNK }
	switch {
	case c.copies != nowhere:
		if !isLink(from) {
			return nil
		}
	case c.takes != nowhere:
		if swaps && isLink(made) && n.rules.linkStops(taken) {
			return taken
		}
		if !isLink(taken) {
			return nil
		}
	case c.action != MakeLink || made.exists:
		return nil
	}
	if n.rules.linkStops(made) {
		return made
	}
	return nil
}

// copies is how far the path of what gets a further name is followed.
func (n *namer) copies(c *nameCall) aim {
	if c.copies.dir >= 0 && n.call.Args[4]&unix.AT_SYMLINK_FOLLOW != 0 { // linkat
		return follows
	}
	return stays
}
