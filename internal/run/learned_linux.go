package run

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit/listen"
	"sbx/internal/dirs"
	"sbx/internal/read"
	"sbx/internal/view"
	"sbx/wrap"
)

// Bounds for comparing what a command wrote: it may have created any number of names.
const (
	maxNames   = 4096 // of one directory; if it has more, only the directory is reported
	maxLearned = 4096 // in total
	maxAlone   = 8    // of the files in one directory that were written in place
	maxNew     = 64   // of the new names in one directory, since one line allows them all
)

// anyName stands for the names in a directory if they are not known.
const anyName = "/*"

// layer is an overlay over a directory of the host, which takes what the command writes
// there.
type layer struct {
	dir   string
	fd    int           // of the overlay's upper directory
	made  unix.Timespec // its mtime before the command ran
	hides string        // the directory in the scratch tmpfs by which the overlay hides names
}

// openLayers opens the layers before the command writes to them.
func (x *Started) openLayers() {
	scratch := x.process.Scratch()
	if scratch < 0 {
		return
	}
	for _, w := range x.Plan.Written() {
		fd, st := openLayer(scratch, w.Upper)
		if fd >= 0 {
			x.layers = append(x.layers, layer{w.Dir, fd, st.Mtim, w.Hides})
		}
	}
}

// openLayer opens a directory without following a link; fd is -1 if that fails.
func openLayer(dir int, name string) (fd int, st unix.Stat_t) {
	fd, err := dirs.OpenAcross(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK)
	if err != nil || unix.Fstat(fd, &st) != nil {
		return -1, st
	}
	return fd, st
}

// learned returns the writes in the layers, which would have been denied without them. No
// process of the sandbox is left.
func (x *Started) learned() []Denied {
	if len(x.layers) == 0 {
		return nil
	}
	secret := func(path string) bool { return x.Inputs.Lists.Secret(path, x.Inputs.Home) }
	l := learner{plan: x.Plan, caches: x.Resolved.Caches(), secret: secret, started: x.record.StartedAt, scratch: x.process.Scratch()}
	for _, at := range x.layers {
		l.at = at
		l.compare(at.fd, at.dir, at.made)
		unix.Close(at.fd)
	}
	x.layers = nil
	return l.found
}

// learner compares layers with the host's directories.
type learner struct {
	plan   *wrap.Plan
	caches []string // the caches that the path presets name
	secret func(path string) bool

	started time.Time
	scratch int   // the directory of the layers
	at      layer // the layer that is compared
	found   []Denied
	dirs    read.Dir
}

// add reports an act at a path.
func (l *learner) add(action, path string) {
	parent := path[:max(strings.LastIndexByte(path, '/'), 1)]
	if listen.KindOf(action) != wrap.ToWrite && unix.Faccessat(unix.AT_FDCWD, parent, unix.W_OK, unix.AT_EACCESS) == unix.EACCES {
		return // the host itself denies it; the layer allowed it because it shows another owner
	}
	d := Denied{Action: action, Target: path}
	if l.secret(path) {
		d.Rule = string(wrap.FieldSecrets)
	}
	l.note(d)
}

// note appends d unless there are too many.
func (l *learner) note(d Denied) {
	d.Kind, d.Count = "filesystem", 1
	switch {
	case len(l.found) < maxLearned-1:
		l.found = append(l.found, d)
	case len(l.found) < maxLearned:
		l.found = append(l.found, Denied{Kind: d.Kind, Action: "write more than " + strconv.Itoa(maxLearned) + " files and directories", Aside: true})
	}
}

// mtime returns the mtime of a directory before the command ran: of the layer that hides
// names in it, or of the host's directory. If the host's has changed since, the old one is
// unknown, and the directory counts as unchanged.
func (l *learner) mtime(dir string, host, now *unix.Stat_t) unix.Timespec {
	var st unix.Stat_t
	if unix.Fstatat(l.scratch, l.at.hides+strings.TrimPrefix(dir, l.at.dir), &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		return st.Mtim
	}
	if time.Unix(host.Mtim.Unix()).After(l.started) {
		return now.Mtim
	}
	return host.Mtim
}

// names returns the sorted names in a directory; cut is true if it has more than maxNames.
func (l *learner) names(fd int) (names []string, cut bool) {
	_ = l.dirs.Each(fd, func(name []byte, _ byte) bool {
		if cut = len(names) == maxNames; !cut {
			names = append(names, string(name))
		}
		return !cut
	})
	slices.Sort(names)
	return names, cut
}

// compare compares a directory with the host's. before is its mtime before the command
// ran. Overlayfs keeps the mtime when it copies a file of the directory, so another mtime
// means that names were created or removed.
func (l *learner) compare(fd int, dir string, before unix.Timespec) {
	if len(l.found) >= maxLearned {
		return
	}
	var now, st, host unix.Stat_t
	_ = unix.Fstat(fd, &now)
	changed, came, news := now.Mtim != before, false, 0
	names, cut := l.names(fd)
	if len(names) > 0 && slices.ContainsFunc(l.caches, func(cache string) bool { return view.Within(dir, cache) }) {
		l.add("create", dir+"/"+names[0]) // the line for it opens the whole cache
		return
	}
	var written []string
	for _, name := range names {
		path := view.Join(dir, name)
		g := l.plan.View.At(path)
		switch {
		case g.Because.Field == string(wrap.FieldSecrets) && g.Access < view.Read || l.secret(path):
			l.note(Denied{Action: "open for writing", Target: path, Rule: string(wrap.FieldSecrets)})
			came = true
			continue
		case !g.Copied || unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil: // another mount covers it
			continue
		}
		kind := st.Mode & unix.S_IFMT
		switch err := unix.Lstat(path, &host); {
		case kind == unix.S_IFCHR && st.Rdev == 0:
			l.add("remove", path)
			came = true
		case err != nil:
			if news < maxNew {
				l.fresh(fd, name, path, kind)
			}
			came = true
			news++
		case kind == unix.S_IFDIR && host.Mode&unix.S_IFMT == unix.S_IFDIR:
			if sub, inside := openLayer(fd, name); sub >= 0 {
				l.compare(sub, path, l.mtime(path, &host, &inside))
				unix.Close(sub)
			} else {
				l.add("open for writing", path)
			}
		default:
			written = append(written, path)
		}
	}
	if cut || len(written) > maxAlone || changed && !came { // a file was replaced by rename, for example
		l.add("create", strings.TrimSuffix(dir, "/")+anyName)
		return
	}
	for _, path := range written {
		l.add("open for writing", path)
	}
}

// fresh reports a name that the host does not have. If a directory leads to a cache that a
// path preset names, only the cache is to be opened; other files in that directory are
// reported and not opened.
func (l *learner) fresh(fd int, name, path string, kind uint32) (cached bool) {
	within := func(cache string) bool { return view.Within(path, cache) }
	leads := func(cache string) bool { return view.Within(cache, path) }
	if kind == unix.S_IFDIR && !slices.ContainsFunc(l.caches, within) && slices.ContainsFunc(l.caches, leads) {
		if sub, _ := openLayer(fd, name); sub >= 0 {
			defer unix.Close(sub)
			first := len(l.found)
			if names, _ := l.names(sub); l.freshIn(sub, names, path) {
				return true
			}
			l.found = l.found[:first]
		}
	}
	action := "create"
	if kind == unix.S_IFLNK {
		action = listen.MakeLink
	}
	l.add(action, path)
	return slices.ContainsFunc(l.caches, within)
}

// freshIn calls fresh for names in a directory; cached is false if none leads to a cache.
func (l *learner) freshIn(fd int, names []string, dir string) (cached bool) {
	for _, name := range names {
		var st unix.Stat_t
		first := len(l.found)
		if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || l.fresh(fd, name, dir+"/"+name, st.Mode&unix.S_IFMT) {
			cached = true
			continue
		}
		for i := first; i < len(l.found); i++ {
			l.found[i].Aside = true
		}
	}
	return cached
}
