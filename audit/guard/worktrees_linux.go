package guard

import (
	"slices"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/internal/sys"
	"sbx/internal/view"
	"sbx/wrap"
)

// Worktrees removes the linked git worktrees of a Plan for the command, name by name. The names
// are mount points inside, so that unlink(2) and rmdir(2) fail there with EBUSY. They are not in
// the supervisor's own mount namespace, and removing a file there removes the mounts on it.
//
// The .git file of a worktree goes first. The worktree's directory in the repository is removed
// only as a whole: Worktrees notes the protected names in it as removed, one by one, and removes
// them with the directory. Without its commondir file the directory would be a repository of its
// own, whose configuration git would read.
//
// A removed name is no longer protected by a mount, and must not be created again.
type Worktrees struct {
	sweep *Sweep
	watch *Watch
	list  []worktree
}

type worktree struct {
	admin   string
	dots    []dot
	gone    [len(adminNames)]bool // which of the names in admin are noted as removed
	removed bool                  // some protected name in admin was removed
}

// dot is a .git file at launch; id is zero if there was none.
type dot struct {
	path string
	id   identity
}

var adminNames = wrap.AdminNames()

// NewWorktrees records the .git files as they are now.
func NewWorktrees(s *Sweep, x *Watch) *Worktrees {
	w := &Worktrees{sweep: s, watch: x}
	for i := range s.Watch.Worktrees {
		from := &s.Watch.Worktrees[i]
		t := worktree{admin: from.Admin}
		for _, path := range from.Dots {
			t.dots = append(t.dots, dot{path, identify(path)})
		}
		w.list = append(w.list, t)
	}
	return w
}

// Remove removes a path of the host that is a mount point inside, if the path belongs to a worktree
// and may be removed at this point; else ours is false, and the answer of the kernel stands. dir is
// a descriptor of the path's directory as the command reached it; wantsDir says that the command
// asks to remove a directory. The caller has assumed the command's credentials.
func (w *Worktrees) Remove(path string, dir int, wantsDir bool) (e unix.Errno, ours bool) {
	for i := range w.list {
		t := &w.list[i]
		for k := range t.dots {
			d := &t.dots[k]
			switch {
			case !wantsDir && path == d.path:
				return w.removeDot(t, d, dir)
			case wantsDir && path == dirOf(d.path):
				if !w.isGone(d.path) {
					return 0, false
				}
				return w.removeEmpty(t, path, dir)
			}
		}
		switch name, ok := view.Relative(path, t.admin); {
		case wantsDir && path == dirOf(t.admin):
			return w.removeEmpty(t, path, dir)
		case !ok:
		case wantsDir && name == "":
			return w.removeAdmin(t, dir)
		case !wantsDir:
			if n := slices.Index(adminNames[:], name); n >= 0 {
				return w.note(t, n, dir)
			}
		}
	}
	return 0, false
}

// removeDot removes a .git file if it is still the one from the launch.
func (w *Worktrees) removeDot(t *worktree, d *dot, dir int) (unix.Errno, bool) {
	at, name, ok := w.open(d.path, dir)
	if !ok {
		return 0, false
	}
	defer dirs.Close(at)
	if d.id == (identity{}) || identifyIn(at, name) != d.id {
		return 0, false
	}
	return w.unlink(t, at, d.path, 0), true
}

// removeEmpty removes an empty directory. Git also removes the "worktrees" directory after it has
// removed a worktree.
func (w *Worktrees) removeEmpty(t *worktree, path string, dir int) (unix.Errno, bool) {
	at, _, ok := w.open(path, dir)
	if !ok {
		return 0, false
	}
	defer dirs.Close(at)
	return w.unlink(t, at, path, unix.AT_REMOVEDIR), true
}

// note notes that a name in a worktree's directory is to be removed together with the directory.
func (w *Worktrees) note(t *worktree, n, dir int) (unix.Errno, bool) {
	at, _, ok := w.open(view.Join(t.admin, adminNames[n]), dir)
	if !ok || !w.allGone(t) {
		if ok {
			dirs.Close(at)
		}
		return 0, false
	}
	defer dirs.Close(at)
	if err := unix.Faccessat2(at, "", unix.W_OK|unix.X_OK, unix.AT_EACCESS|unix.AT_EMPTY_PATH); err != nil {
		return sys.Errno(err), true
	}
	t.gone[n] = true
	return 0, true
}

// removeAdmin removes a worktree's directory if it contains only names that were noted as
// removed.
func (w *Worktrees) removeAdmin(t *worktree, dir int) (unix.Errno, bool) {
	above, name, ok := w.open(t.admin, dir)
	if !ok || !w.allGone(t) {
		if ok {
			dirs.Close(above)
		}
		return 0, false
	}
	defer dirs.Close(above)
	at, err := dirs.OpenBeneath(above, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return sys.Errno(err), true
	}
	defer dirs.Close(at)
	f := dirs.Reader{FD: at, Buf: make([]byte, 4<<10)}
	for e, more := f.Next(); more; e, more = f.Next() {
		if n := slices.Index(adminNames[:], string(e.Name)); n < 0 || !t.gone[n] || e.Kind == unix.DT_DIR {
			return unix.ENOTEMPTY, true
		}
	}
	text, err := readSmall(at, wrap.Commondir)
	if err != nil {
		return sys.Errno(err), true
	}
	for _, n := range adminNames {
		if err := unix.Unlinkat(at, n, 0); err != nil && err != unix.ENOENT {
			return sys.Errno(err), true
		}
	}
	if e := w.unlink(t, above, t.admin, unix.AT_REMOVEDIR); e != 0 {
		w.restore(t, at, text) // a file was created meanwhile
		return e, true
	}
	for _, n := range adminNames {
		w.forget(view.Join(t.admin, n))
	}
	return 0, true
}

// restore puts the commondir file back into a directory that could not be removed. If another file
// has taken that name meanwhile, that file is new and the sweep moves it away.
func (w *Worktrees) restore(t *worktree, at int, text []byte) {
	fd, err := dirs.Open(at, wrap.Commondir, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		w.forget(view.Join(t.admin, wrap.Commondir))
		return
	}
	_, _ = unix.Write(fd, text) // on a full file system the file stays empty, and git does not accept the directory
	dirs.Close(fd)
}

// maxSmall bounds the size of a commondir file, which contains a path.
const maxSmall = 8 << 10

// readSmall reads a small file in an open directory.
func readSmall(dir int, name string) ([]byte, error) {
	fd, err := dirs.OpenBeneath(dir, name, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	defer dirs.Close(fd)
	b := make([]byte, maxSmall)
	n, err := unix.Read(fd, b)
	if err == nil && n == maxSmall {
		err = unix.EFBIG
	}
	return b[:max(n, 0)], err
}

// unlink removes a path in the directory at, and forgets everything known about the path.
func (w *Worktrees) unlink(t *worktree, at int, path string, flags int) unix.Errno {
	for {
		err := unix.Unlinkat(at, path[len(dirOf(path))+1:], flags)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return sys.Errno(err)
		}
		t.removed = true
		w.forget(path)
		return 0
	}
}

func (w *Worktrees) forget(path string) {
	w.sweep.forget(path)
	w.watch.forget(path)
}

// open opens the directory of a path, from the tree's own descriptor and without following links,
// and checks that it is the directory that the command reached.
func (w *Worktrees) open(path string, dir int) (at int, name string, ok bool) {
	t, rel := w.sweep.Held.find(path)
	if t == nil {
		return -1, "", false
	}
	at, err := dirs.OpenBeneath(t.fd, dirOf(rel), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return -1, "", false
	}
	var ours, theirs unix.Stat_t
	if unix.Fstat(at, &ours) != nil || unix.Fstat(dir, &theirs) != nil || ours.Dev != theirs.Dev || ours.Ino != theirs.Ino {
		dirs.Close(at)
		return -1, "", false
	}
	return at, path[len(dirOf(path))+1:], true
}

// allGone reports whether no .git file of the worktree is left.
func (w *Worktrees) allGone(t *worktree) bool {
	return !slices.ContainsFunc(t.dots, func(d dot) bool { return !w.isGone(d.path) })
}

// isGone reports whether a path does not exist. On any other error than ENOENT it is false.
func (w *Worktrees) isGone(path string) bool {
	t, rel := w.sweep.Held.find(path)
	if t == nil {
		return false
	}
	fd, err := dirs.OpenBeneath(t.fd, rel, unix.O_PATH)
	if err == nil {
		dirs.Close(fd)
	}
	return err == unix.ENOENT
}

// Removed returns the worktrees of which protected names were removed, by their directories in
// the repository.
func (w *Worktrees) Removed() (list []string) {
	for i := range w.list {
		if w.list[i].removed {
			list = append(list, w.list[i].admin)
		}
	}
	return list
}
