package guard

import (
	"strings"
	"time"

	"sbx/audit"
	"sbx/internal/dirs"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"

	"golang.org/x/sys/unix"
)

// guarded is a file or directory with a mount on it in the sandbox, which falls off when the
// host replaces the file.
type guarded struct {
	path    string
	id      identity
	before  string
	events  []audit.Notice
	omitted int

	loose   time.Time // since when the file has lacked its mount; zero if it has the mount or does not exist
	sound   time.Time // when the mount was last known to be there; zero means at launch
	blind   bool      // no inotify watch covers it
	over    bool      // the command removed it, and it is no longer protected
	asked   bool      // the renewal under way began after the mount fell off
	stuck   bool      // the last renewal could not mount it, and nothing happened since
	why     string    // why the last renewal could not mount it
	ended   int       // how many of events belong to earlier losses of the mount
	exposed time.Duration
}

func (x *Watch) remember(path string) {
	if x.at[path] == 0 {
		x.files = append(x.files, guarded{path: path, id: identify(path), blind: true})
		x.at[path] = len(x.files)
	}
}

// compare notes the changes since a point in time to a file that no watch covered.
func (x *Watch) compare(list []audit.Notice, i int, now, since time.Time) []audit.Notice {
	g := &x.files[i]
	is := identify(g.path)
	switch {
	case is == g.id, g.over:
		return list
	case is == identity{}:
		list = x.note(list, i, audit.Removed, now)
	default:
		list = x.note(list, i, audit.Replaced, now)
		if since.Before(g.loose) {
			g.loose = since
		}
	}
	g.id = is
	return list
}

// forget notes that the supervisor removed a path because the command asked for it. From then on
// nothing that the host does at this path counts as a replacement.
func (x *Watch) forget(path string) {
	i := x.at[path] - 1
	if i < 0 || x.files[i].over {
		return
	}
	x.files[i].over = true
	x.note(nil, i, audit.RemovedInside, time.Now())
	x.unname(i)
}

// guard watches the directory of a file for events on that file.
func (x *Watch) guard(path string, file int) error {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return nil
	}
	dir, name := path[:max(i, 1)], path[i+1:]
	fd, err := dirs.OpenRealDir(dir)
	if err != nil {
		return nil // the directory and the mounts in it are gone: no event will come
	}
	defer dirs.Close(fd)
	d, err := x.add(fd, unix.IN_MOVED_FROM|unix.IN_DELETE)
	if err == unix.EACCES { // not readable for this user: Finish compares the file
		return nil
	}
	if err != nil {
		return &spec.Problem{Field: wrap.FieldProtected, On: path, Do: "watch the file", Why: inotifyWhy(err)}
	}
	if d.names == nil {
		d.names = map[string]int{}
	}
	d.names[name] = file
	x.files[file].blind = false
	return nil
}

// unname removes a guarded file from the watched directories.
func (x *Watch) unname(i int) {
	for _, d := range x.dirs {
		for name, file := range d.names {
			if file == i {
				delete(d.names, name)
			}
		}
	}
}

// regard watches the guarded files under a directory again after the directory was replaced
// or removed, which ended the watches on its content.
func (x *Watch) regard(list []audit.Notice, dir string, now time.Time) []audit.Notice {
	for i := range x.files {
		g := &x.files[i]
		if rel, ok := view.Relative(g.path, dir); !ok || rel == "" || g.over {
			continue
		}
		x.unname(i)
		_ = x.guard(g.path, i) // on an error Finish compares the file
		list = x.compare(list, i, now, now)
	}
	return list
}

// maxEvents is how many events of one file are kept.
const maxEvents = 50

func (x *Watch) note(list []audit.Notice, i int, what audit.NoticeKind, now time.Time) []audit.Notice {
	g := &x.files[i]
	n := audit.Notice{Path: g.path, At: now, What: what}
	if len(g.events) < maxEvents {
		g.events = append(g.events, n)
	} else {
		g.omitted++
	}
	g.stuck, g.asked = false, false
	switch {
	case what == audit.Replaced && g.loose.IsZero():
		g.loose = g.since(now)
	case what == audit.Removed, what == audit.RemovedInside:
		g.settle(now)
	}
	return append(list, n)
}

// since returns when the present file came to its path: creating a file and renaming it both
// set the inode's ctime. A program inside that changes the file again makes that time later,
// but never later than noticed.
func (g *guarded) since(noticed time.Time) time.Time {
	var st unix.Statx_t
	if statx(unix.AT_FDCWD, g.path, &st) != nil || st.Mask&unix.STATX_CTIME == 0 {
		return noticed
	}
	if at := time.Unix(st.Ctime.Sec, int64(st.Ctime.Nsec)); at.After(g.sound) && at.Before(noticed) {
		return at
	}
	return noticed
}

// settle ends the period in which a file lacked its mount.
func (g *guarded) settle(now time.Time) {
	if !g.loose.IsZero() {
		g.exposed += max(now.Sub(g.loose), 0)
	}
	g.loose, g.sound, g.ended = time.Time{}, now, len(g.events)
}

// Finish takes the digests again and returns the protected and masked files that were
// replaced or removed or whose content differs.
func (x *Watch) Finish(now time.Time) []audit.Change {
	var out []audit.Change
	for i := range x.files {
		g := &x.files[i]
		if g.blind { // every file is blind if the watch never began
			x.compare(nil, i, now, x.sweep.Held.began(now))
		}
		after := ""
		if g.before != "" {
			after = digestPath(g.path)
		}
		if len(g.events) == 0 && after == g.before {
			continue
		}
		c := audit.Change{Path: g.path, DigestBefore: g.before, DigestAfter: after, Events: g.events, Omitted: g.omitted}
		c.Bare = !g.loose.IsZero()
		if g.settle(now); c.Bare {
			c.Why = g.why
		}
		c.Unprotected = g.exposed
		out = append(out, c)
	}
	return out
}
