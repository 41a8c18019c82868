package audit

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"sbx/spec"
	"sbx/wrap"
)

// maxWatched is how many folders are watched for new protected names. Beyond
// them only the sweep at the end looks.
const maxWatched = 256

// Watch tells, through inotify, when the host replaces a protected or masked
// file and when a protected name appears in a writable tree. It is used by one
// thread: NewWatch once the command runs, Widen while there is nothing better
// to do, Drain when FD is readable, Finish and Close at the end.
type Watch struct {
	fd    int
	sweep *Sweep
	dirs  map[int32]*watched
	next  []place // folders of the trees still to be watched
	files []guarded
	at    map[string]int // of files, by path, counted from 1

	events []byte // read from fd
	buf    []byte // names of a folder
}

// watched is one folder under watch.
type watched struct {
	names map[string]int // of files, by name
	in    *tree          // the tree it belongs to; nil for none
	rel   string
}

// place is a folder beneath a tree.
type place struct {
	t   *tree
	rel string
}

// guarded is a file that the host may replace.
type guarded struct {
	path   string
	before string
	events []Notice
}

const watchMask = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_ONLYDIR | unix.IN_MASK_ADD

// NewWatch begins to watch: the folders of w's protected and masked files, and
// the tops of the trees that s holds. It also takes the digests of protected
// files, which nothing inside can have changed since they are mounted
// read-only there.
func NewWatch(w wrap.Watch, s *Sweep) (*Watch, error) {
	s.prepare()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, &spec.Problem{Field: wrap.FieldProtected, Do: "watch the protected files", Why: inotifyWhy(err)}
	}
	x := &Watch{fd: fd, sweep: s, dirs: map[int32]*watched{}, at: map[string]int{},
		events: make([]byte, 16<<10), buf: make([]byte, 16<<10)}
	paths := make([]string, 0, len(w.Protected)+len(w.Masked)+1)
	for i := range w.Protected {
		paths = append(paths, w.Protected[i].Path)
	}
	paths = append(paths, w.Masked...)
	if w.Record != "" {
		paths = append(paths, w.Record)
	}
	for _, p := range paths {
		if err = x.guard(p); err != nil {
			x.Close()
			return nil, err
		}
	}
	x.digests(w)
	for i := range s.Held.trees {
		x.next = append(x.next, place{&s.Held.trees[i], ""})
	}
	x.Widen(len(x.next))
	return x, nil
}

// inotifyWhy says what inotify's errors mean: they speak of other things.
func inotifyWhy(err error) string {
	switch err {
	case unix.EMFILE:
		return "the user has too many inotify instances (fs.inotify.max_user_instances)"
	case unix.ENOSPC:
		return "the user has too many inotify watches (fs.inotify.max_user_watches)"
	}
	return err.Error()
}

// guard watches the folder of a file for what happens to that file.
func (x *Watch) guard(path string) error {
	i := strings.LastIndexByte(path, '/')
	if i < 0 || x.at[path] > 0 {
		return nil
	}
	dir, name := path[:max(i, 1)], path[i+1:]
	fd, err := openFolder(dir)
	if err != nil {
		return nil // gone already: the mounts on it are gone too, and no event will come
	}
	defer unix.Close(fd)
	d, err := x.add(fd, unix.IN_MOVED_FROM|unix.IN_DELETE)
	if err != nil {
		return &spec.Problem{Field: wrap.FieldProtected, On: path, Do: "watch the file", Why: inotifyWhy(err)}
	}
	if d.names == nil {
		d.names = map[string]int{}
	}
	x.files = append(x.files, guarded{path: path})
	d.names[name] = len(x.files) - 1
	x.at[path] = len(x.files)
	return nil
}

// add watches what a descriptor holds; an inode has one watch, whatever the
// number of its names.
func (x *Watch) add(fd int, more uint32) (*watched, error) {
	wd, err := unix.InotifyAddWatch(x.fd, fdPath(fd), watchMask|more)
	if err != nil {
		return nil, err
	}
	d := x.dirs[int32(wd)]
	if d == nil {
		d = &watched{}
		x.dirs[int32(wd)] = d
	}
	return d, nil
}

// FD is the descriptor to poll for reading.
func (x *Watch) FD() int { return x.fd }

// Widen watches up to n more folders of the writable trees, from the tops
// down, and tells whether there are more to come.
func (x *Watch) Widen(n int) (more bool) {
	for ; n > 0 && len(x.next) > 0; n-- {
		if len(x.dirs) >= maxWatched {
			x.next = nil
			break
		}
		p := x.next[0]
		x.next = x.next[1:]
		x.follow(p, nil)
	}
	return len(x.next) > 0
}

// follow watches a folder and queues those in it. What matches already is
// given to appeared, if that is there: the folder is new.
func (x *Watch) follow(p place, appeared func(path string)) {
	fd, err := openBeneath(p.t.fd, p.rel, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	d, err := x.add(fd, 0)
	if err != nil {
		x.next = nil // no more to be had
		return
	}
	d.in, d.rel = p.t, p.rel
	f := folder{fd: fd, buf: x.buf}
	left := 4 * maxWatched
	for e, ok := f.next(); ok && left > 0; e, ok = f.next() {
		left--
		rel := join(p.rel, string(e.name))
		path := under(p.t.path, rel)
		if appeared != nil && x.isNew(path, rel) {
			appeared(path)
			continue
		}
		if e.kind == unix.DT_DIR && len(x.next) < maxWatched && x.worth(path, string(e.name), rel) {
			x.next = append(x.next, place{p.t, rel})
		}
	}
}

// worth leaves out folders in which nothing that matters appears, so that the
// watches last for those where it does.
func (x *Watch) worth(path, name, rel string) bool {
	if x.sweep.fixed[path] || name == "node_modules" {
		return false
	}
	return !strings.Contains("/"+rel, "/.git/objects") && !strings.Contains("/"+rel, "/.git/refs") &&
		!strings.Contains("/"+rel, "/.git/logs")
}

func (x *Watch) isNew(path, rel string) bool {
	s := x.sweep
	return s.Match(rel) && !s.known[path] && !s.allowed(path, rel)
}

// Finish takes the digests again and tells what happened to protected and
// masked files: those that were replaced or removed, and those that differ.
func (x *Watch) Finish() []Change {
	var out []Change
	for i := range x.files {
		g := &x.files[i]
		after := ""
		if g.before != "" {
			after = digestPath(g.path)
		}
		if len(g.events) > 0 || after != g.before {
			out = append(out, Change{Path: g.path, DigestBefore: g.before, DigestAfter: after, Events: g.events})
		}
	}
	return out
}

// Close ends the watch.
func (x *Watch) Close() {
	if x.fd >= 0 {
		unix.Close(x.fd)
	}
	x.fd = -1
}

// maxEvents is how many events of one file are kept.
const maxEvents = 50

func (x *Watch) note(list []Notice, i int, what What, now time.Time) []Notice {
	g := &x.files[i]
	n := Notice{Path: g.path, At: now, What: what}
	if len(g.events) < maxEvents {
		g.events = append(g.events, n)
	}
	return append(list, n)
}
