package guard

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs"
	"sbx/internal/view"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// The bounds of the final walk on directories that are unchanged since the launch.
const (
	maxNames   = 2_000_000
	maxDirs    = 200_000
	maxSeconds = 10
)

// The bounds of the final walk on all other directories. Creating a directory takes longer than
// looking at it, and each new one extends the time of the walk: a command cannot create so many
// directories that the walk ends before it reaches a protected name.
const (
	maxNewNames   = 40_000_000
	maxNewDirs    = 2_000_000
	maxNewSeconds = 60 // in all
	newDirTime    = 50 * time.Microsecond
	newNameTime   = time.Microsecond
	maxQueued     = 256 << 20 // bytes of the names of directories still to be entered
)

// Sweep moves protected names that were created during the run out of the writable trees and
// into the run's directory. It starts from the descriptors of Held, follows no symbolic link
// and enters no other mount. It moves by rename, so that a file that turns into a symbolic
// link at that moment is moved as a link.
//
// Known, and the times of the inode where the file system's clock can be trusted, show
// whether a file was there at launch. A file that was neither created nor changed since is
// never touched. If the search at launch was not complete (Cut) and the times do not show
// the age either, the file stays and is reported.
type Sweep struct {
	Watch wrap.Watch // the sweep uses Trees, Allowed and Protected
	Held  *Snapshot
	Known []string              // absolute paths of the protected names at launch
	Cut   bool                  // the search for Known ended early
	Match func(rel string) bool // whether a path under a tree is a protected name
	Leads func(rel string) bool // whether it is a directory on the way to one; nil for none
	// Run opens the run's directory and gives its path; see Sink.Run.
	Run func() (fd int, path string, err error)

	ready bool
	atLaunch
	mover
	indexes indexes
}

// atLaunch records which paths are protected and which existed when the command started.
type atLaunch struct {
	known  map[string]bool
	unmade map[string]bool // Watch.Unmade
	toward map[string]bool // missing directories above the paths of unmade
	git    map[string]bool // Watch.Git
	links  map[string]bool // protected names that were links
	fixed  map[string]bool // protected and read-only inside: the command changes nothing under them
	// mounted maps each mount point inside to whether its mount is read-only; names has the last
	// components of these paths.
	mounted map[string]bool
	names   map[string]bool
}

// indexes counts how much of git's index files was read.
type indexes struct {
	long  uint64 // bytes in all
	block []byte // the buffer for reading one
}

// prepare builds the maps for the lookups, once.
func (s *Sweep) prepare() {
	if s.ready {
		return
	}
	s.ready, s.run, s.dest = true, s.Run, -1
	s.known = make(map[string]bool, len(s.Known)+len(s.Watch.Protected))
	s.links = map[string]bool{}
	s.fixed = make(map[string]bool, len(s.Watch.Protected))
	for _, k := range s.Known {
		s.known[k] = true
	}
	s.unmade = make(map[string]bool, len(s.Watch.Unmade))
	s.toward = map[string]bool{}
	for _, p := range s.Watch.Unmade {
		s.unmade[p] = true
		s.missing(p)
	}
	s.git = make(map[string]bool, len(s.Watch.Git))
	for _, g := range s.Watch.Git {
		s.git[g] = true
	}
	for i := range s.Watch.Protected {
		p := &s.Watch.Protected[i]
		s.known[p.Path] = true
		s.links[p.Path] = p.Link
		if !p.Shared && !p.Link {
			s.fixed[p.Path] = true
		}
	}
	for _, p := range s.Watch.Closed {
		s.fixed[p] = true
	}
	s.mountedOn(s.Watch.Renew)
}

// Forbids reports whether the command must not create a path of the host: the path is a
// protected name in one of the trees, or a directory that leads to one, and the spec does not
// allow it.
func (s *Sweep) Forbids(path string) bool {
	s.prepare()
	t, rel := s.Held.find(path)
	return t != nil && (s.forbidden(path, rel) || s.leads(path, rel) || s.isFixed(path)) && !s.allowed(path, rel)
}

// Empty reports whether the command may create a directory that Forbids reports, because the
// protected names that it leads to are forbidden themselves.
func (s *Sweep) Empty(path string) bool {
	s.prepare()
	t, rel := s.Held.find(path)
	return t != nil && s.mayBeMade(path, rel) && !s.forbidden(path, rel) && !s.isFixed(path)
}

// mayBeMade reports whether a directory in the root of a tree, or in a home directory in the tree,
// often contains other files than protected names.
func (s *Sweep) mayBeMade(path, rel string) bool {
	for !defaults.MayBeMade(rel) {
		cut := strings.IndexByte(rel, '/')
		if cut < 0 || !s.toward[path] {
			return false
		}
		rel = rel[cut+1:]
	}
	return true
}

// forget notes that the file at a path was removed and is no longer protected.
func (s *Sweep) forget(path string) {
	s.prepare()
	delete(s.known, path)
	delete(s.fixed, path)
	delete(s.mounted, path)
	delete(s.links, path)
}

func (s *atLaunch) isFixed(path string) bool {
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '/') {
		if s.fixed[path[:end]] {
			return true
		}
	}
	return false
}

// Close closes the descriptors of the sweep; Held stays open.
func (s *Sweep) Close() {
	if s.ready && s.dest >= 0 {
		dirs.Close(s.dest)
	}
	s.dest, s.ready = -1, false
}

// At sweeps one path, as a Notice of Appeared names it. If a rename cannot move the file into
// the run's directory, At renames it where it is, and End copies and lists it.
func (s *Sweep) At(path string) audit.Swept {
	s.prepare()
	var out audit.Swept
	t, rel := s.Held.find(path)
	if t == nil {
		return out
	}
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	fd, err := dirs.OpenBeneath(t.fd, dirOf(rel), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return out // gone or moved; the walk at the end finds it wherever it is
	}
	defer dirs.Close(fd)
	s.consider(&out, t, fd, rel, name, true)
	return out
}

// End walks the writable trees. Call it after the last process of the command has ended.
func (s *Sweep) End() audit.Swept {
	return s.end(newWalk())
}

func newWalk() walk {
	now := time.Now()
	return walk{old: bounds{maxNames, maxDirs}, made: bounds{maxNewNames, maxNewDirs}, queue: queue{room: maxQueued},
		until: now.Add(maxSeconds * time.Second), last: now.Add(maxNewSeconds * time.Second)}
}

// end is End with the bounds of a walk.
func (s *Sweep) end(w walk) (out audit.Swept) {
	s.prepare()
	w.s, w.out, w.buf, w.seen = s, &out, make([]byte, 32<<10), map[string]bool{}
	s.finish(&out)
	for _, g := range s.Watch.Git { // first: nothing has looked at the index during the run, and a command can make the walk too long
		if t, rel := s.Held.find(g); t != nil {
			w.seen[g] = w.dir(t, rel) == nil // if the directory cannot be opened, the walk tries again
		}
	}
	for i := range s.Held.trees {
		w.tree(&s.Held.trees[i])
	}
	if w.why != "" {
		s.modules(&out)
	}
	return out
}

// isTop reports whether a name in the open directory fd is the root of another tree, which is
// walked separately. A directory that replaced that root since the launch is not.
func (s *Sweep) isTop(path string, fd int, name string) bool {
	var st, top unix.Stat_t
	for i := range s.Held.trees {
		if t := &s.Held.trees[i]; t.path == path {
			return unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && unix.Fstat(t.fd, &top) == nil &&
				st.Dev == top.Dev && st.Ino == top.Ino
		}
	}
	return false
}

// allowed reports whether the spec allows creating path: it lists the path or a directory above, by
// an absolute path or, at any depth, by a name.
func (s *Sweep) allowed(path, rel string) bool {
	for _, a := range s.Watch.Allowed {
		if strings.HasPrefix(a, "/") {
			if view.Within(path, a) {
				return true
			}
			continue
		}
		if a = strings.TrimPrefix(a, "**/"); strings.Contains("/"+rel+"/", "/"+a+"/") {
			return true
		}
	}
	return false
}

// consider moves a name away if it is protected, new and not allowed. The name is in the open
// directory fd; rel is its path in the tree. consider reports whether a walk should enter it.
func (s *Sweep) consider(out *audit.Swept, t *tree, fd int, rel, name string, quick bool) (enter bool) {
	path := view.Join(t.path, rel)
	if s.fixed[path] || s.isTop(path, fd, name) {
		return false
	}
	forbidden := s.forbidden(path, rel)
	if !forbidden && !s.leads(path, rel) {
		return true
	}
	var st unix.Statx_t
	if err := statx(fd, name, &st); err != nil {
		return false
	}
	a := s.Held.ageOf(t, &st)
	if a == ageOld && forbidden && s.brought(t, rel) {
		a = ageUnsure
	}
	link := st.Mode&unix.S_IFMT == unix.S_IFLNK
	switch {
	case !forbidden && !link:
		return true // a directory that leads to a protected name; a symbolic link there could lead to one
	case s.known[path] && (a != ageNew || !link && !s.links[path] || s.Held.same(path, fd, name)):
		return true // a mount cannot protect a link: a new link may replace a file or another link
	}
	repository := strings.EqualFold(name, ".git")
	switch {
	case a == ageOld:
		return true
	case s.allowed(path, rel):
		if repository && !quick {
			out.AddRepository(path)
		}
		return false
	case s.Cut && (a == ageUnsure || s.ambiguous(path, rel)):
		out.AddCut(path + ": it may have been there at launch, where the search was cut; it was left")
		return true
	}
	err := s.take(out, t, fd, rel, name, audit.Moved{Kind: kindOf(uint32(st.Mode))}, quick)
	if err != nil && err != unix.ENOENT && repository {
		out.AddRepository(path)
	}
	return false
}
