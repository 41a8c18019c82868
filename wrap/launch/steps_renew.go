package launch

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// sandboxFDs are descriptors by which a child enters a running sandbox.
type sandboxFDs struct {
	user   int    // the user namespace; -1 if it is the supervisor's own
	mounts int    // the mount namespace
	masks  [2]int // the masks, in the order of maskSlots
}

// hasRenewals reports whether a Plan's launch leaves the descriptors that renewals need.
func hasRenewals(p *wrap.Plan) bool {
	return len(p.Watch.Renew) > 0 && p.Has(wrap.MountNS) && p.Has(wrap.PidNS)
}

// maskSlots returns the Plan's slots from which its renewals bind: two at most, an empty
// directory and an empty file.
func maskSlots(list []wrap.Renewal) (slots []int) {
	for i := range list {
		if m := &list[i].Mount; m.Op == wrap.OpPlace && !slices.Contains(slots, m.Slot) {
			slots = append(slots, m.Slot)
		}
	}
	return slots
}

// keepNamespaces leaves descriptors of the child's namespaces for the supervisor, which
// cannot open them later: the child is not dumpable then.
func (l *mountList) keepNamespaces(p *wrap.Plan) {
	open := func(path string, s Slot) {
		l.on = path
		l.add(unix.SYS_OPENAT, "openat", fdcwd, text(path), num(unix.O_RDONLY|unix.O_CLOEXEC)).Save = s
	}
	if p.Has(wrap.UserNS) {
		open("/proc/self/ns/user", slotUser)
	}
	open("/proc/self/ns/mnt", slotMounts)
	l.on = ""
}

// renewalSteps returns the steps of a child that restores lost mounts in a running sandbox.
// It is pure.
//
// The child joins the sandbox's namespaces and uses the paths there. Programs inside may have
// placed
// anything at these paths. So the child follows no symlink and mounts on exactly the files
// that it opened. The worst effect is that less of the sandbox's own tree can be read or
// written. If a path is mounted already (EXDEV from RESOLVE_NO_XDEV), the child skips it.
// Any other failure is reported and skips only that mount.
func renewalSteps(all []wrap.Renewal, in sandboxFDs, remount bool) []Step {
	l := &mountList{list: list{steps: make([]Step, 0, 8+12*len(all))}, remount: remount}
	l.add(unix.SYS_PRCTL, "prctl", num(unix.PR_SET_PDEATHSIG), num(int(unix.SIGKILL)))
	var own Slot
	if remount { // before it joins: the sandbox's /proc does not show processes of other namespaces
		own = l.openDescriptors()
	}
	l.on = "the sandbox"
	if in.user >= 0 { // setns(2) requires a single-threaded process that shares no memory
		l.add(unix.SYS_SETNS, "setns", num(in.user), num(unix.CLONE_NEWUSER))
	}
	join := func() {
		l.add(unix.SYS_SETNS, "setns", num(in.mounts), num(unix.CLONE_NEWNS))
		if remount {
			l.add(unix.SYS_FCHDIR, "fchdir", kept(own))
		}
	}
	join()
	slots := maskSlots(all)
	for i := range all {
		m, mask := &all[i].Mount, -1
		if m.Op == wrap.OpPlace {
			mask = in.masks[slices.Index(slots, m.Slot)]
		}
		l.renew(m, mask, join)
	}
	l.special(DoStarted, "through")
	l.add(unix.SYS_EXIT_GROUP, "exit_group", num(0))
	return l.steps
}

// renew restores one mount. If the first step fails, all others are skipped; if a later
// one fails, those up to the closes. join enters the sandbox's mount namespace.
func (l *mountList) renew(m *wrap.Mount, mask int, join func()) {
	l.on, l.field = m.Target, m.For
	first := len(l.steps)
	if l.remount { // an earlier mount may have failed while the child was in a namespace of its own
		join()
	}
	at := strings.LastIndexByte(m.Target, '/')
	dir, name := l.slot(), l.slot()
	open := func(from Arg, path string, flags int, resolve uint64) *Step {
		return l.add(unix.SYS_OPENAT2, "openat2", from, text(path), data(words(uint64(unix.O_PATH|unix.O_CLOEXEC|flags), 0, resolve)), num(unix.SizeofOpenHow))
	}
	open(fdcwd, m.Target[:max(at, 1)], unix.O_DIRECTORY, noLinks).Save = dir
	s := open(kept(dir), m.Target[at+1:], 0, noLinks|unix.RESOLVE_BENEATH|unix.RESOLVE_NO_XDEV)
	s.Save, s.Expected = name, Errno(unix.EXDEV)
	from := name
	if m.Op == wrap.OpPlace {
		from = l.slot()
		l.add(unix.SYS_DUP, "dup", num(mask)).Save = from
	}
	tree := l.cloneOf(from, maskName(m), m.Mode)
	done, there := tree, tree
	if set := attributes(m.Mode); set != 0 && l.remount {
		done, there = l.remountedCopy(tree, m.Target, set, join)
	}
	l.move(done, name)
	closes := len(l.steps)
	l.close(tree)
	if done != tree {
		l.close(done)
		l.close(there)
	}
	if from != name {
		l.close(from)
	}
	l.close(name)
	l.close(dir)
	for i := first; i < len(l.steps); i++ {
		s := &l.steps[i]
		switch {
		case i == first:
			s.Tolerant, s.Skip = true, uint8(len(l.steps)-1-i)
		case i < closes:
			s.Tolerant, s.Skip = true, uint8(closes-1-i)
		default:
			s.Expected = Errno(unix.EBADF) // the descriptor was never opened
		}
	}
	l.on, l.field = "", ""
}

// remountedCopy makes a copy of a tree's top whose mount has further flags, ready to be
// attached. A mount that programs can reach cannot reliably be made read-only: a program
// that has a file open for writing prevents it (EBUSY). So the mount is created in a copy of
// the mount
// namespace that has no other process, at its own path (at is open there, for the
// caller to close). Mounts under the top are left out; if the kernel does not allow that,
// the step fails.
func (l *mountList) remountedCopy(tree Slot, path string, set uint64, join func()) (done, at Slot) {
	const single = treeFlags &^ atTree
	l.steps[len(l.steps)-1].Args[2] = num(single)
	l.add(unix.SYS_UNSHARE, "unshare", num(unix.CLONE_NEWNS))
	at = l.open(path)
	l.move(tree, at)
	l.add(unix.SYS_DUP3, "dup3", kept(tree), num(ownNumber), num(unix.O_CLOEXEC))
	s := l.special(DoOne, "remount one")
	s.Args = [6]Arg{kept(tree), text(strconv.Itoa(ownNumber)), word(set)}
	done = l.slot()
	l.add(unix.SYS_OPEN_TREE, "open_tree", kept(tree), text(""), num(single)).Save = done
	join()
	return done, at
}

// ownNumber is the descriptor that a renewing child reuses: it has its own table and needs no
// standard input.
const ownNumber = 0
