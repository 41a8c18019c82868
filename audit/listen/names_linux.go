package listen

import (
	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// pathArg gives the positions of a call's directory descriptor and path arguments. dir
// is -1 for a path relative to the current directory; path is -1 for no path.
type pathArg struct{ dir, path int8 }

var nowhere = pathArg{-1, -1}

// nameCall is a system call that creates a name, removes one, or both.
type nameCall struct {
	makes, takes pathArg
	swap         int8    // the argument with RENAME_EXCHANGE and RENAME_NOREPLACE; -1 for none
	copies       pathArg // the existing file of link(2), which gets a second name
	action       string
}

// nameCalls are the calls of seccomp.NotifyNames and NotifyRefused.
var nameCalls = map[string]nameCall{
	"mkdir":     {pathArg{-1, 0}, nowhere, -1, nowhere, makeFolder},
	"mkdirat":   {pathArg{0, 1}, nowhere, -1, nowhere, makeFolder},
	"mknod":     {pathArg{-1, 0}, nowhere, -1, nowhere, "create"},
	"mknodat":   {pathArg{0, 1}, nowhere, -1, nowhere, "create"},
	"symlink":   {pathArg{-1, 1}, nowhere, -1, nowhere, MakeLink},
	"symlinkat": {pathArg{1, 2}, nowhere, -1, nowhere, MakeLink},
	"link":      {pathArg{-1, 1}, nowhere, -1, pathArg{-1, 0}, MakeLink},
	"linkat":    {pathArg{2, 3}, nowhere, -1, pathArg{0, 1}, MakeLink},
	"rename":    {pathArg{-1, 1}, pathArg{-1, 0}, -1, nowhere, "rename"},
	"renameat":  {pathArg{2, 3}, pathArg{0, 1}, -1, nowhere, "rename"},
	"renameat2": {pathArg{2, 3}, pathArg{0, 1}, 4, nowhere, "rename"},
	"unlink":    {nowhere, pathArg{-1, 0}, -1, nowhere, "remove"},
	"unlinkat":  {nowhere, pathArg{0, 1}, -1, nowhere, "remove"},
	"rmdir":     {nowhere, pathArg{-1, 0}, -1, nowhere, removeFolder},
}

// The actions of some of these calls, as Refusal reports them.
const (
	MakeLink     = "create a link"
	makeFolder   = "create a directory"
	makeSocket   = "create a socket"
	removeFolder = "remove a directory"
)

// KindOf returns the kind of access to its path that an action is.
func KindOf(action string) wrap.ActKind {
	switch action {
	case "create", makeFolder:
		return wrap.ToMake
	case MakeLink, makeSocket:
		return wrap.ToLink
	case "rename", "remove", removeFolder:
		return wrap.ToTake
	case Execute, "open", "open for reading":
		return wrap.ToRead
	}
	return wrap.ToWrite
}

// rule decides a call that creates, renames or removes a name.
func (n *namer) rule(c *nameCall) {
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
	if c.makes == nowhere && n.removes(c, &taken) || n.guardsName(c, &made, &taken, &from) {
		return
	}
	// A name that exists answers EEXIST, except to a rename, which replaces it.
	replaces := c.takes != nowhere
	for _, d := range []*entry{&made, &taken} {
		if d == &taken && !swaps || d.exists && !replaces || !n.rules.stops(d) || c.action == makeFolder && n.rules.mayMake(d) {
			continue
		}
		n.deny(ByName, c.action, d.text())
		return
	}
	n.followByProc(c, &made, &taken)
	if d := n.plants(c, &made, &taken, &from, swaps); d != nil {
		n.deny(ByName, c.action, d.text())
		return
	}
	n.foresee(c, &made, &taken)
	if c.makes == nowhere {
		n.proceed()
		return
	}
	n.makes()
	if taken.kind == unix.S_IFREG || from.kind == unix.S_IFREG || from.odd {
		n.opens(&made, c.action)
	}
}

// foresee reports a call that the kernel is going to deny.
func (n *namer) foresee(c *nameCall, made, taken *entry) {
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

// plants returns the entry at which a call would put a symbolic link that Rules.Links
// forbids; nil for none. Paths through /proc were resolved by followByProc with the
// thread's descriptors of this moment; a link that escapes this check is swept later.
func (n *namer) plants(c *nameCall, made, taken, from *entry, swaps bool) *entry {
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

// copies says how far the existing path of link(2) or linkat(2) is followed.
func (n *namer) copies(c *nameCall) follow {
	if c.copies.dir >= 0 && n.call.Args[4]&unix.AT_SYMLINK_FOLLOW != 0 { // linkat
		return follows
	}
	return stays
}

// makes is proceed for a call that may create a name: it calls Config.Makes before.
func (w *writes) makes() {
	if w.told != nil {
		w.told()
	}
	w.proceed()
}
