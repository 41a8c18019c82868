package guard

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs"
	"sbx/internal/view"
	"sbx/wrap/defaults"
)

// walk goes through a tree breadth first: people and their tools use the names near the root
// first, so the walk looks at them first.
type walk struct {
	queue
	s         *Sweep
	out       *audit.Swept
	old, made bounds    // for directories that are unchanged since the launch, and for the others
	until     time.Time // when to end; new files and directories extend it
	last      time.Time // the latest time to end
	why       string    // why the walk ended early; "" if it did not
	buf       []byte
	seen      map[string]bool // git directories that were read before
}

// bounds are the numbers of names that may still be read and of directories that may be entered.
type bounds struct{ names, dirs int }

func (w *walk) tree(t *tree) {
	w.begin(t)
	for rel, ok := w.pop(); ok && w.why == ""; rel, ok = w.pop() {
		if err := w.dir(t, rel); err != nil && err != unix.ENOENT && err != unix.ENOTDIR && err != unix.ELOOP {
			cut := view.Join(t.path, audit.Clip(rel)) + ": " + whyUnread(err)
			w.out.AddCut(cut)
			if err == unix.ENAMETOOLONG { // only a directory that was created step by step can be so deep
				w.out.Add(audit.Swept{Early: cut})
			}
		}
	}
	if w.why != "" {
		early := t.path + ": the walk ended early: " + w.why
		w.out.AddCut(early)
		w.out.Add(audit.Swept{Early: early})
	}
}

func whyUnread(err error) string {
	switch err {
	case unix.EXDEV:
		return "another mount, not entered"
	case unix.ENAMETOOLONG:
		return "nested too deep to be entered"
	}
	return err.Error()
}

// The reasons why a walk ends early.
const (
	tooManyDirs  = "too many directories"
	tooManyNames = "too many names"
	tooSlow      = "too slow"
)

// enter counts an open directory and returns the bounds that apply to it; nil if they are reached.
func (w *walk) enter(t *tree, fd int) *bounds {
	b := &w.made
	var st unix.Statx_t
	if unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st) == nil && w.s.Held.ageOf(t, &st) == ageOld {
		b = &w.old
	}
	if b.dirs--; b.dirs < 0 {
		w.why = tooManyDirs
		return nil
	}
	if now := time.Now(); now.After(w.until) || now.After(w.last) {
		w.why = tooSlow
		return nil
	}
	w.takes(b, newDirTime)
	return b
}

// takes extends the time of the walk for a new file or directory.
func (w *walk) takes(b *bounds, d time.Duration) {
	if b == &w.made {
		w.until = w.until.Add(d)
	}
}

// open opens a directory whose mode forbids it. If the directory has not changed since the
// launch, nothing in it is new, and open fails; else the command chose the mode, and open
// makes the directory readable.
func (w *walk) open(t *tree, rel string) (int, error) {
	dir, name := t.fd, rel
	if rel == "" {
		name = "."
	} else if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		fd, err := dirs.OpenBeneath(t.fd, rel[:i], unix.O_PATH|unix.O_DIRECTORY)
		if err != nil {
			return -1, err
		}
		defer dirs.Close(fd)
		dir, name = fd, rel[i+1:]
	}
	var st unix.Statx_t
	if err := statx(dir, name, &st); err != nil {
		return -1, err
	}
	if w.s.Held.ageOf(t, &st) == ageOld && !w.s.brought(t, rel) {
		return -1, unix.ENOENT
	}
	return dirs.OpenReadable(dir, name)
}

// foundName is a name to look at once the whole directory has been read: a rename during the read
// could hide other names from the reader.
type foundName struct {
	name             string
	dir, link, index bool
}

func (w *walk) dir(t *tree, rel string) error {
	fd, err := dirs.OpenBeneath(t.fd, rel, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK)
	if err == unix.EACCES {
		fd, err = w.open(t, rel)
	}
	if err != nil {
		return err
	}
	defer dirs.Close(fd)
	left := w.enter(t, fd)
	if left == nil {
		return nil
	}
	var marks bare
	var list []foundName
	f := dirs.Reader{FD: fd, Buf: w.buf}
	_, git := w.s.ofGit(view.Join(t.path, dirs.Join(rel, "x")), dirs.Join(rel, "x"))
	seen := w.seen[view.Join(t.path, rel)]
	for e, ok := f.Next(); ok; e, ok = f.Next() {
		if left.names--; left.names < 0 {
			w.why = tooManyNames
			break
		}
		w.takes(left, newNameTime)
		marks.see(e)
		name := string(e.Name)
		dir := e.Kind == unix.DT_DIR || e.Kind == unix.DT_UNKNOWN
		link, index := git && (e.Kind == unix.DT_LNK || e.Kind == unix.DT_UNKNOWN), git && !seen && defaults.IsIndex(name)
		if at := dirs.Join(rel, name); dir || link || index || w.s.forbidden(view.Join(t.path, at), at) || e.Kind == unix.DT_LNK && w.s.leads(view.Join(t.path, at), at) {
			list = append(list, foundName{name, dir, link, index})
		}
	}
	if marks.all() {
		w.bare(t, fd, rel, marks.others)
	}
	for _, e := range list {
		sub := dirs.Join(rel, e.name)
		if e.link && w.s.link(w.out, t, fd, sub, e.name) {
			continue
		}
		if e.index {
			w.s.index(w.out, t, fd, sub, e.name)
		}
		if w.s.consider(w.out, t, fd, sub, e.name, false) && e.dir && w.s.worth(t, fd, sub, e.name) && !w.push(e.name) {
			w.why = tooManyDirs
			break
		}
	}
	return f.Err
}

// worth reports whether a directory may contain new names. A directory that is unchanged since the
// launch and has no subdirectories does not, unless it was moved there together with a directory
// above it.
func (s *Sweep) worth(t *tree, fd int, rel, name string) bool {
	if !t.clocked || s.leads(view.Join(t.path, rel), rel) {
		return true
	}
	var st unix.Statx_t
	if statx(fd, name, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return false
	}
	if _, git := s.ofGit(view.Join(t.path, rel), rel); git && s.cameAlong(t, rel) {
		return true
	}
	return st.Nlink != 2 || st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 || s.Held.ageOf(t, &st) != ageOld
}
