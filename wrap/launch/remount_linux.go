package launch

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// remounting is the supervisor's part in a DoEach, during which the child waits. In each
// round the supervisor reads which mounts the child's namespace has under the tree, opens
// each mount that lacks a flag from the tree's descriptor, which both share, and the child
// changes the mount by the opened descriptor. This is repeated until no mount lacks a flag.
// So a directory that the host renames in between, or a mount that propagated before the
// namespace was cut off, leads to another round and is not missed.
type remounting struct {
	needed bool // from the Plan
	// bound is set if the command has no more rights than the supervisor: then mounts in
	// directories that neither may enter are left unchanged.
	bound       bool
	lastCount   int    // how many mounts lacked a flag in the last round
	idleLooks   int    // rounds since that number fell
	opened      []int  // descriptors for the calls of this round
	lackingPath string // a mount that lacks a flag
}

const (
	// remountsAtOnce keeps the shared descriptor table from growing (wrap.maxHeld).
	remountsAtOnce = 12
	remountsIdle   = 4
)

// remount answers a child that waits in a DoEach.
func (s *script) remount(rep *report) error {
	o := &s.setup.ops[rep.index]
	steps, done, errno := s.remounts.nextCalls(s.pid, int(rep.value), o.a[1], o.a[2] != 0, unix.Errno(rep.user))
	s.setup.each, s.setup.verdict = nil, uintptr(errno)
	if !done {
		s.setup.each = newProgram(steps, reportFailedSetup)
	}
	return s.goOn()
}

// nextCalls returns the calls that the child makes next. done is set if all mounts have
// their flags, or e says that they cannot get them. last is the error of a call in the
// previous round.
func (r *remounting) nextCalls(pid, tree int, set uintptr, beneath bool, last unix.Errno) (steps []Step, done bool, e unix.Errno) {
	r.close()
	text, ok := read.Proc("/proc/"+strconv.Itoa(pid)+"/mountinfo", read.MaxMountinfo)
	all, top := read.Mounts(string(text)), mountOf(tree)
	list, found := mountsLacking(all, top, set, beneath)
	if !ok || !found {
		return nil, true, unix.EOPNOTSUPP
	}
	at := all[slices.IndexFunc(all, func(m read.Mount) bool { return m.ID == top })].Path
	left := 0
	r.lackingPath = ""
	for i := range list {
		m := &list[i]
		fd, err := tree, unix.Errno(0)
		if m.ID != top && len(r.opened) < remountsAtOnce {
			rel := strings.TrimLeft(strings.TrimPrefix(m.Path, at), "/")
			if fd, err = openMount(tree, rel, m.ID); err == unix.EACCES && r.bound && isBarred(tree, rel) {
				continue
			}
			if err == 0 {
				r.opened = append(r.opened, fd)
			}
		} else if m.ID != top {
			err = unix.EAGAIN // in a later round
		}
		left++
		r.lackingPath = m.Path
		if err == 0 {
			steps = append(steps, remountStep(strconv.Itoa(fd), flagsOf(m)|set))
		}
	}
	if r.idleLooks++; left < r.lastCount || r.lastCount == 0 {
		r.idleLooks = 0
	}
	r.lastCount = left
	switch {
	case left == 0:
		return nil, true, 0
	case r.idleLooks < remountsIdle:
		return steps, false, 0
	case last == 0: // no call was possible for the remaining mounts
		last = unix.EOPNOTSUPP
	}
	return nil, true, last
}

// openMount opens the root of a mount under a tree, without following symlinks or triggering
// an automount (open(2), O_PATH).
func openMount(tree int, path string, id int) (int, unix.Errno) {
	fd, err := unix.Openat2(tree, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: noLinks | unix.RESOLVE_BENEATH})
	if err != nil {
		e, _ := err.(unix.Errno)
		return -1, e
	}
	if mountOf(fd) != id {
		unix.Close(fd)
		return -1, unix.EXDEV
	}
	return fd, 0
}

// mountOf returns the id of a descriptor's mount, -1 if unknown. It reads fdinfo, which
// asks no file system (statx(2) would, and might block).
func mountOf(fd int) int {
	if id, ok := read.Descriptor(fd, "mnt_id:"); ok {
		return id
	}
	return -1
}

func (r *remounting) close() {
	for _, fd := range r.opened {
		unix.Close(fd)
	}
	r.opened = r.opened[:0]
}

// isBarred reports whether another user's directory denies access on the way to path. If the
// directory is the caller's own, its owner could open it.
func isBarred(tree int, path string) bool {
	for i := 0; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		dir := cmp.Or(path[:max(strings.LastIndexByte(path[:i], '/'), 0)], ".")
		how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: noLinks | unix.RESOLVE_BENEATH}
		fd, err := unix.Openat2(tree, path[:i], &how)
		if err == nil {
			unix.Close(fd)
			continue
		}
		if err != unix.EACCES {
			return false
		}
		if fd, err = unix.Openat2(tree, dir, &how); err != nil {
			return false
		}
		defer unix.Close(fd)
		var st unix.Stat_t
		return unix.Fstat(fd, &st) == nil && st.Uid != uint32(unix.Geteuid())
	}
	return false
}
