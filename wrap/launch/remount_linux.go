package launch

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// Remounting is the supervisor's part in a DoEach. The child waits; the kernel
// is asked which mounts its namespace has under the tree; each that lacks a
// flag is opened, from the descriptor of the tree that both share, and the child
// changes it by that descriptor. Then it is asked anew, until nothing lacks.
// So a directory that the host renames meanwhile, or a mount that came in before
// the namespace was cut off, leads to another round and not to a mount that is
// overlooked.
type remounting struct {
	needed bool // the Plan's
	// bound is true where the command has no more rights than the supervisor:
	// mounts in directories that neither may enter stay as they are.
	bound       bool
	lastCount   int    // of mounts that lacked a flag at the last look
	idleLooks   int    // looks since there were fewer
	opened      []int  // for the calls under way
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

// round is the calls that are to be made next. It is done where all mounts are as
// they should be, or where e tells that they cannot be; last is why a call of
// the round before failed.
func (r *remounting) nextCalls(pid, tree int, set uintptr, beneath bool, last unix.Errno) (steps []Step, done bool, e unix.Errno) {
	r.close()
	text, ok := read.Proc("/proc/"+strconv.Itoa(pid)+"/mountinfo", read.Mountinfo)
	all, top := parseMountinfo(string(text)), mountOf(tree)
	list, found := mountsLacking(all, top, set, beneath)
	if !ok || !found {
		return nil, true, unix.EOPNOTSUPP
	}
	at := all[slices.IndexFunc(all, func(m mountInfo) bool { return m.id == top })].path
	left := 0
	r.lackingPath = ""
	for i := range list {
		m := &list[i]
		fd, err := tree, unix.Errno(0)
		if m.id != top && len(r.opened) < remountsAtOnce {
			rel := strings.TrimLeft(strings.TrimPrefix(m.path, at), "/")
			if fd, err = openMount(tree, rel, m.id); err == unix.EACCES && r.bound && isBarred(tree, rel) {
				continue
			}
			if err == 0 {
				r.opened = append(r.opened, fd)
			}
		} else if m.id != top {
			err = unix.EAGAIN // its turn comes
		}
		left++
		r.lackingPath = m.path
		if err == 0 {
			steps = append(steps, remountStep(strconv.Itoa(fd), m.flags|set))
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
	case last == 0: // nothing could be tried on what is left
		last = unix.EOPNOTSUPP
	}
	return nil, true, last
}

// openMount opens the root of a mount under a tree, following no link and
// setting off no automount (open(2), O_PATH).
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

// mountOf is the id of the mount that a descriptor is of: fdinfo asks no file
// system, which may not answer (statx(2) would); -1 where there is none.
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

// shut reports whether it is a directory of another user's that bars the way to path:
// the owner may open one.
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
