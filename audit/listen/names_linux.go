package listen

import (
	"sbx/audit/guard"

	"golang.org/x/sys/unix"
)

// namer decides calls that create, rename or remove names.
type namer struct {
	*paths
	writes
	mounts  remover
	present *int // counts the names that existed already
}

// decide answers a call that creates, renames or removes a name.
func (n *namer) decide(c *nameCall) {
	swaps := c.swap >= 0 && n.call.Args[c.swap]&unix.RENAME_EXCHANGE != 0
	var made, taken, from entry
	if c.makes != nowhere {
		how := stays
		if c.takes == nowhere { // a name that exists answers EEXIST, wherever it is
			how = fresh
		}
		made = n.entry(n.argument(c.makes), &n.work[0], how)
		defer made.close()
		if how == fresh && made.exists {
			*n.present++
		}
	}
	if c.takes != nowhere {
		how := stays
		if c.makes == nowhere {
			how = leaves
		}
		taken = n.entry(n.argument(c.takes), &n.work[1], how)
		defer taken.close()
	}
	if c.copies != nowhere && !made.exists {
		from = n.entry(n.argument(c.copies), &n.work[1], n.copies(c))
		defer from.close()
	}
	for _, d := range []*entry{&made, &taken, &from} {
		if d.errno != 0 {
			n.fail(d.errno)
			return
		}
	}
	if c.makes == nowhere && n.mounts.removeMount(c, &taken) || n.guardsName(c, &made, &taken, &from) {
		return
	}
	// A name that exists answers EEXIST, except to a rename, which replaces it.
	replaces := c.takes != nowhere
	for _, d := range []*entry{&made, &taken} {
		if d == &taken && !swaps || d.exists && !replaces || !n.rules.stops(d) || c.action == makeDir && n.rules.mayMake(d) {
			continue
		}
		n.deny(ByName, c.action, d.text())
		return
	}
	n.followByProc(c, &made, &taken)
	if d := n.plantedLink(c, &made, &taken, &from, swaps); d != nil {
		n.deny(ByName, c.action, d.text())
		return
	}
	n.reportDenial(c, &made, &taken)
	if c.makes == nowhere {
		n.proceed()
		return
	}
	n.proceedMaking()
	if taken.kind == unix.S_IFREG || from.kind == unix.S_IFREG || from.odd {
		n.noteOpened(&made, c.action)
	}
}

// reportDenial reports a call that the kernel is going to deny.
func (n *namer) reportDenial(c *nameCall, made, taken *entry) {
	gone := c.takes != nowhere && !taken.exists
	replaces := c.takes != nowhere && made.exists
	keeps := c.swap >= 0 && n.call.Args[c.swap]&unix.RENAME_NOREPLACE != 0
	switch {
	case made.absent:
		n.report(OutOfView, c.action, text(made.path))
	case gone && c.makes == nowhere && taken.ok && taken.isFixed(): // EROFS comes before ENOENT
		n.report(ReadOnly, c.action, taken.text())
	case gone: // ENOENT comes before all other errors
	case replaces && keeps && !n.rules.fixed(made): // EEXIST comes before mounts; mv tries this on directories
	case replaces && made.file == taken.file: // succeeds and does nothing (rename(2))
	case taken.exists && taken.mounted:
		n.report(ByName, c.action, taken.text())
	case replaces && made.mounted:
		n.report(ByName, c.action, made.text())
	case (!made.exists || replaces) && n.rules.fixed(made):
		n.report(ReadOnly, c.action, made.text())
	case n.rules.fixed(taken):
		n.report(ReadOnly, c.action, taken.text())
	}
}

// followByProc resolves those paths of a call that lead through /proc. The result is
// only reported: the rules on protected paths are decided before.
func (n *namer) followByProc(c *nameCall, made, taken *entry) {
	if made.odd {
		*made = n.entryByProc(n.argument(c.makes), &n.work[0], stays)
	}
	if taken.odd {
		*taken = n.entryByProc(n.argument(c.takes), &n.work[1], stays)
	}
}

// plantedLink returns the entry at which a call would put a symbolic link that Rules.Links
// forbids; nil for none. Paths through /proc were resolved by followByProc with the
// thread's descriptors of this moment; a link that escapes this check is swept later.
func (n *namer) plantedLink(c *nameCall, made, taken, from *entry, swaps bool) *entry {
	if n.rules.Links == nil || c.makes == nowhere {
		return nil
	}
	isLink := func(d *entry) bool { return d.ok && d.exists && d.kind == unix.S_IFLNK }
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

// copies returns how far the existing path of link(2) or linkat(2) is followed.
func (n *namer) copies(c *nameCall) follow {
	if c.copies.dir >= 0 && n.call.Args[4]&unix.AT_SYMLINK_FOLLOW != 0 { // linkat
		return follows
	}
	return stays
}

// guardsName answers a call that would create, rename or remove a guarded path, or that
// would give a guarded file a second name through which it could be written. It returns
// false if it has not answered the call.
func (n *namer) guardsName(c *nameCall, made, taken, from *entry) bool {
	gm, in := n.rules.guard(made)
	gt, out := n.rules.guard(taken)
	gf, _ := n.rules.guard(from)
	var cause Cause
	var e unix.Errno
	d := made
	switch {
	case from.unread && len(n.rules.Views) > 0:
		cause, e = ByName, unix.EPERM
	case gf >= guard.Fixed && from.exists && from.kind != unix.S_IFDIR && gm != guard.Within:
		n.fail(unix.EXDEV)
		return true
	case gm < guard.Pinned && gt < guard.Pinned:
		return false
	case c.takes == nowhere: // creating a path that exists answers EEXIST
		if gm != guard.Within || made.exists {
			return false
		}
		cause, e = ReadOnly, unix.EROFS
	case c.makes != nowhere && in != out:
		if cause, e = ReadOnly, unix.EXDEV; gm != guard.Within {
			if d = taken; gt == guard.Pinned { // writable, but it must not be moved
				cause = ByName
			}
		}
	case gt == guard.Within:
		cause, e, d = ReadOnly, unix.EROFS, taken
	case !taken.exists:
		return false
	case gt >= guard.Pinned && c.makes == nowhere:
		if _, e = n.mounts.removesDir(c, taken); e != 0 {
			n.fail(e)
			return true
		}
		cause, e, d = ByName, unix.EBUSY, taken
	case gt >= guard.Pinned && n.rules.stops(made):
		return false
	case gt >= guard.Pinned:
		cause, e, d = ByName, unix.EBUSY, taken
	case !made.exists, c.swap >= 0 && n.call.Args[c.swap]&unix.RENAME_NOREPLACE != 0, made.file == taken.file:
		return false // its creation is denied elsewhere, or EEXIST, or the call does nothing
	default:
		cause, e = ByName, unix.EBUSY
	}
	n.report(cause, c.action, d.text())
	n.fail(e)
	return true
}
