package audit

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// walk goes through a tree breadth first, so that what lies near the top, and
// is met first by people and their tools, is looked at first. It keeps the
// paths of the folders still to come, never their descriptors.
type walk struct {
	s       *Sweep
	out     *Swept
	names   int // that may still be read
	folders int // that may still be entered
	until   unix.Timespec
	buf     []byte
	queue   []string
	seen    map[string]bool // folders of git's that were read before
}

func (w *walk) tree(t *tree) {
	w.queue = append(w.queue[:0], "")
	for i := 0; i < len(w.queue); i++ {
		rel := w.queue[i]
		w.queue[i] = ""
		if why := w.spent(); why != "" {
			w.out.cut(t.path + ": the walk ended early: " + why)
			return
		}
		if err := w.folder(t, rel); err != nil && err != unix.ENOENT && err != unix.ENOTDIR && err != unix.ELOOP {
			w.out.cut(under(t.path, clip(rel)) + ": " + whyUnread(err))
		}
	}
	if w.names <= 0 { // in the last folder, perhaps before its end
		w.out.cut(t.path + ": the walk ended early: too many names")
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

func (w *walk) spent() string {
	if w.names <= 0 {
		return "too many names"
	}
	if w.folders--; w.folders < 0 {
		return "too many folders"
	}
	if w.folders&63 == 0 {
		var now unix.Timespec
		if unix.ClockGettime(unix.CLOCK_MONOTONIC_COARSE, &now) == nil && w.until.Sec > 0 && now.Nano() > w.until.Nano() {
			return "too slow"
		}
	}
	return ""
}

// open opens a folder that its mode closes. One that was so at launch holds
// nothing new; any other is the command's doing, and is made readable.
func (w *walk) open(t *tree, rel string) (int, error) {
	dir, name := t.fd, rel
	if rel == "" {
		name = "."
	} else if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		fd, err := openBeneath(t.fd, rel[:i], unix.O_PATH|unix.O_DIRECTORY)
		if err != nil {
			return -1, err
		}
		defer closeFD(fd)
		dir, name = fd, rel[i+1:]
	}
	var st unix.Statx_t
	if err := statx(dir, name, &st); err != nil {
		return -1, err
	}
	if w.s.Held.ageOf(t, &st) == ageOld && !w.s.brought(t, rel) {
		return -1, unix.ENOENT
	}
	return openReadable(dir, name)
}

// found is a name that is to be looked at when the folder has been read: to
// rename while reading could hide others from the reader.
type found struct {
	name             string
	dir, link, index bool
}

func (w *walk) folder(t *tree, rel string) error {
	fd, err := openBeneath(t.fd, rel, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK)
	if err == unix.EACCES {
		fd, err = w.open(t, rel)
	}
	if err != nil {
		return err
	}
	defer closeFD(fd)
	var marks bare
	var list []found
	f := folder{fd: fd, buf: w.buf}
	_, git := w.s.ofGit(under(t.path, join(rel, "x")), join(rel, "x"))
	seen := w.seen[under(t.path, rel)]
	for e, ok := f.next(); ok && w.names > 0; e, ok = f.next() {
		w.names--
		marks.see(e)
		name := string(e.name)
		dir := e.kind == unix.DT_DIR || e.kind == unix.DT_UNKNOWN
		link, index := git && (e.kind == unix.DT_LNK || e.kind == unix.DT_UNKNOWN), git && !seen && wrap.IsIndex(name)
		if at := join(rel, name); dir || link || index || w.s.forbidden(under(t.path, at), at) || e.kind == unix.DT_LNK && w.s.leads(under(t.path, at), at) {
			list = append(list, found{name, dir, link, index})
		}
	}
	if marks.all() {
		w.bare(t, fd, rel, marks.others)
	}
	for _, e := range list {
		sub := join(rel, e.name)
		if e.link && w.s.link(w.out, t, fd, sub, e.name) {
			continue
		}
		if e.index {
			w.s.index(w.out, t, fd, sub, e.name)
		}
		if w.s.consider(w.out, t, fd, sub, e.name, false) && e.dir && w.worth(t, fd, sub, e.name) {
			if len(w.queue) < 2*maxFolders {
				w.queue = append(w.queue, sub)
			} else {
				w.folders = 0
			}
		}
	}
	return f.err
}

// worth tells whether a folder can hold anything new: one that nobody changed
// since the launch and that holds no folders cannot, unless it was brought
// along by one on the way to protected names.
func (w *walk) worth(t *tree, fd int, rel, name string) bool {
	if !t.clocked || w.s.leads(under(t.path, rel), rel) {
		return true
	}
	var st unix.Statx_t
	if statx(fd, name, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return false
	}
	if _, git := w.s.ofGit(under(t.path, rel), rel); git && w.s.cameAlong(t, rel) {
		return true
	}
	return st.Nlink != 2 || st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 || w.s.Held.ageOf(t, &st) != ageOld
}
