package guard

import (
	"strings"
	"time"

	"sbx/internal/dirs"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"

	"golang.org/x/sys/unix"
)

// maxWatched is the number of directories that are watched for new protected names. The sweep at
// the end covers the others.
const maxWatched = 64

// Watch reports, through inotify, when the host replaces a protected or masked file and when
// a protected name appears in a writable tree. One thread uses it: NewWatch once the command
// runs, Begin when the command has run for a while, Widen while there is nothing else to do,
// Drain when FD is readable, Finish and Close at the end. If Begin fails, Poll looks at the
// files instead; a watch that never began compares them in Finish.
type Watch struct {
	fd    int
	sweep *Sweep
	dirs  map[int32]*watched
	next  []place // directories of the trees that are not watched yet
	files []guarded
	at    map[string]int // by path, the index in files plus 1
	early []string       // names that existed already when the watch on a directory began
	masks map[int32]*masked

	looked time.Time           // when Poll was called last
	told   map[string]identity // the names that Poll has reported

	events []byte // read from fd
	buf    []byte // names of a directory
}

// watched is one directory under watch.
type watched struct {
	names map[string]int // the guarded files in it: name to index in Watch.files
	in    *tree          // the tree that the directory belongs to; nil for none
	rel   string
	made  int  // files created in it so far
	left  bool // the directory is no longer watched, and left to the sweep
}

// place is a directory under a tree.
type place struct {
	t   *tree
	rel string
}

const watchMask = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_ONLYDIR | unix.IN_MASK_ADD

// NewWatch records the identity of w's protected and masked files as they are now, and the
// digests of the protected ones. The command cannot have changed those: inside, they are
// mounted read-only. NewWatch watches nothing yet.
func NewWatch(w wrap.Watch, s *Sweep) *Watch {
	s.prepare()
	x := &Watch{fd: -1, sweep: s, at: map[string]int{}}
	for i := range w.Protected {
		x.remember(w.Protected[i].Path)
	}
	for _, p := range w.Masked {
		x.remember(p)
	}
	if w.Record != "" {
		x.remember(w.Record)
	}
	for _, p := range w.Renewed() {
		x.remember(p)
	}
	x.digests(w)
	return x
}

// Begin begins to watch the directories of those files and the roots of the trees. Call it
// only for a command that runs for a while: a process that ends with an inotify descriptor
// waits for the kernel's grace period, up to 20 ms. Changes since NewWatch are noted with the
// present time.
func (x *Watch) Begin(now time.Time) error {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return &spec.Problem{Field: wrap.FieldProtected, Do: "watch the protected files", Why: inotifyWhy(err)}
	}
	x.fd, x.dirs = fd, map[int32]*watched{}
	x.events, x.buf = make([]byte, 4<<10), make([]byte, 4<<10)
	for i := range x.files {
		g := &x.files[i]
		if g.over {
			continue
		}
		if err := x.guard(g.path, i); err != nil {
			x.Close()
			return err
		}
		if x.compare(nil, i, now, x.sweep.Held.began(now)); g.loose.IsZero() {
			g.sound = now
		}
	}
	for i := range x.sweep.Held.trees {
		x.next = append(x.next, place{&x.sweep.Held.trees[i], ""})
	}
	x.Widen(len(x.next))
	return nil
}

// inotifyWhy explains the errors of inotify, whose usual texts are misleading.
func inotifyWhy(err error) string {
	switch err {
	case unix.EMFILE:
		return "the user has too many inotify instances (fs.inotify.max_user_instances)"
	case unix.ENOSPC:
		return "the user has too many inotify watches (fs.inotify.max_user_watches)"
	}
	return err.Error()
}

// add watches the directory of a descriptor. An inode has only one watch, even under several names.
func (x *Watch) add(fd int, more uint32) (*watched, error) {
	wd, err := unix.InotifyAddWatch(x.fd, dirs.FDPath(fd), watchMask|more)
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

// FD returns the descriptor to poll for reading.
func (x *Watch) FD() int { return x.fd }

// Widen watches up to n more directories of the writable trees, those near the roots first,
// and reports whether more are left. The next Drain reports protected names that were created
// in them before.
func (x *Watch) Widen(n int) (more bool) {
	for ; n > 0 && len(x.next) > 0; n-- {
		if len(x.dirs) >= maxWatched {
			x.next = nil
			break
		}
		p := x.next[0]
		x.next = x.next[1:]
		x.follow(p, func(path string) { x.early = append(x.early, path) })
	}
	return len(x.next) > 0
}

// follow watches a directory and queues the directories in it. It calls appeared for each
// protected name that was not known at launch.
func (x *Watch) follow(p place, appeared func(path string)) {
	fd, err := dirs.OpenBeneath(p.t.fd, p.rel, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK)
	if err != nil {
		return
	}
	defer dirs.Close(fd)
	if x.fd >= 0 && len(x.dirs) < maxWatched {
		d, err := x.add(fd, 0)
		if err != nil {
			x.next = nil // the user's watches are used up
			return
		}
		d.in, d.rel = p.t, p.rel
	}
	f := dirs.Reader{FD: fd, Buf: x.buf}
	left := 4 * maxWatched
	for e, ok := f.Next(); ok && left > 0; e, ok = f.Next() {
		left--
		rel := dirs.Join(p.rel, string(e.Name))
		path := view.Join(p.t.path, rel)
		if x.isNew(path, rel) {
			appeared(path) // the name may be older than the launch; its directory is watched anyway
		}
		if e.Kind == unix.DT_DIR && len(x.next) < maxWatched && x.worth(path, string(e.Name), rel) {
			x.next = append(x.next, place{p.t, rel})
		}
	}
}

// worth reports whether to watch a directory. The number of watches is bounded, so it leaves
// out directories where no protected names appear.
func (x *Watch) worth(path, name, rel string) bool {
	if x.sweep.fixed[path] || x.sweep.Held.has(path) || name == "node_modules" {
		return false
	}
	return !strings.Contains("/"+rel, "/.git/objects") && !strings.Contains("/"+rel, "/.git/refs") &&
		!strings.Contains("/"+rel, "/.git/logs")
}

func (x *Watch) isNew(path, rel string) bool {
	s := x.sweep
	return s.forbidden(path, rel) && !s.known[path] && !s.allowed(path, rel)
}

// Close ends the watch.
func (x *Watch) Close() {
	if x.fd >= 0 {
		dirs.Close(x.fd)
	}
	x.fd = -1
}
