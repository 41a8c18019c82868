package guard

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs"
	"sbx/wrap"
)

// The bounds of the walk at the end, for directories that nobody changed since the launch:
// the command pays nothing for those.
const (
	maxNames   = 2_000_000
	maxFolders = 200_000
	maxSeconds = 10
)

// The bounds for the others. To make a directory takes longer than to look at it, so that
// each brings the walk time along: no command hides a name behind what it made in less
// time than these allow.
const (
	maxNewNames   = 40_000_000
	maxNewFolders = 2_000_000
	maxNewSeconds = 60 // in all
	newFolderTime = 50 * time.Microsecond
	newNameTime   = time.Microsecond
	maxQueued     = 256 << 20 // bytes of what is still to be entered
)

// Sweep moves protected names that came into being out of the writable trees
// and into the run's directory. It works from the descriptors of Held alone,
// follows no link and enters no other mount; what it moves is moved by rename,
// so that a name that turns into a link on the way is moved as that link.
//
// Whether something was there at launch is told by Known and, where the file
// system's clock can be trusted, by the times of the inode: what was neither
// made nor changed since is never touched. Where Cut says that the search at
// launch was not complete and the times do not tell either, it is left where
// it is and reported.
type Sweep struct {
	Watch wrap.Watch // Trees, Allowed and Protected count here
	Held  *Snapshot
	Known []string              // absolute paths of protected names at launch
	Cut   bool                  // Known is not all
	Match func(rel string) bool // whether a path beneath a tree is a protected name
	Leads func(rel string) bool // whether it is a directory on the way to one; nil for none
	// Run opens the run's directory and gives its path; see Sink.Run.
	Run func() (fd int, path string, err error)

	ready bool
	atLaunch
	mover
	indexes indexes
}

// atLaunch is which paths are protected, and what was there when the command started.
type atLaunch struct {
	known  map[string]bool
	unmade map[string]bool // Watch.Unmade
	toward map[string]bool // the directories on the way to those that are missing too
	git    map[string]bool // Watch.Git
	links  map[string]bool // protected names that were links
	fixed  map[string]bool // protected and read-only inside: nothing beneath is the command's
	// mounted is what is mounted on inside, and whether that is read-only, and names the
	// last names of those paths.
	mounted map[string]bool
	names   map[string]bool
}

// indexes is how much of git's indexes was looked at.
type indexes struct {
	long  uint64 // together
	block []byte // where they are read
}

// prepare makes what the lookups need, once.
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

// Forbids tells whether an absolute path of the host must not come into being:
// it is a protected name of one of the trees, or a directory on the way to one,
// and the spec does not let it.
func (s *Sweep) Forbids(path string) bool {
	s.prepare()
	t, rel := s.Held.find(path)
	return t != nil && (s.forbidden(path, rel) || s.leads(path, rel) || s.isFixed(path)) && !s.allowed(path, rel)
}

// Empty tells whether a directory that Forbids names may be made all the same, since
// what it is on the way to is forbidden in its turn.
func (s *Sweep) Empty(path string) bool {
	s.prepare()
	t, rel := s.Held.find(path)
	return t != nil && s.mayBeMade(path, rel) && !s.forbidden(path, rel) && !s.isFixed(path)
}

// mayBeMade tells whether much else is kept in a directory: one of a tree's top, or of
// a home in it.
func (s *Sweep) mayBeMade(path, rel string) bool {
	for !wrap.MayBeMade(rel) {
		cut := strings.IndexByte(rel, '/')
		if cut < 0 || !s.toward[path] {
			return false
		}
		rel = rel[cut+1:]
	}
	return true
}

// forget takes note that what stood at a path is gone for good.
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

// Close gives back what the sweep opened; Held stays open.
func (s *Sweep) Close() {
	if s.ready && s.dest >= 0 {
		dirs.Close(s.dest)
	}
	s.dest, s.ready = -1, false
}

// At sweeps one path at once, as a Notice of Appeared names it. What a rename
// cannot take to the run's directory is set aside under another name, and listed
// by End, which copies it.
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

// End walks the writable trees. It is to be called when nothing of the
// command runs any more.
func (s *Sweep) End() audit.Swept {
	return s.end(newWalk())
}

func newWalk() walk {
	now := time.Now()
	return walk{old: bounds{maxNames, maxFolders}, made: bounds{maxNewNames, maxNewFolders}, queue: queue{room: maxQueued},
		until: now.Add(maxSeconds * time.Second), last: now.Add(maxNewSeconds * time.Second)}
}

// end is End within the bounds of a walk.
func (s *Sweep) end(w walk) (out audit.Swept) {
	s.prepare()
	w.s, w.out, w.buf, w.seen = s, &out, make([]byte, 32<<10), map[string]bool{}
	s.finish(&out)
	for _, g := range s.Watch.Git { // first, since an index is not looked at before, and a walk can be made too long
		if t, rel := s.Held.find(g); t != nil {
			w.seen[g] = w.folder(t, rel) == nil // what cannot be opened is met again
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

// isTop tells whether a name in the open directory fd is the top of a tree by itself,
// which was there at launch: names beneath count from there, and it is walked
// by itself. What only stands in its place is not.
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

// allowed tells whether the spec lets path come into being: it or a directory
// above it is named, by its path or, at any depth, by its name.
func (s *Sweep) allowed(path, rel string) bool {
	for _, a := range s.Watch.Allowed {
		if strings.HasPrefix(a, "/") {
			if _, ok := beneath(path, a); ok {
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

// consider moves name, which stands in the open directory fd and is called rel in
// its tree, if it is protected, new and not allowed. It tells whether a walk
// is to go on beneath it.
func (s *Sweep) consider(out *audit.Swept, t *tree, fd int, rel, name string, quick bool) (enter bool) {
	path := under(t.path, rel)
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
		return true // a directory on the way to a protected name; a link there would bring one along
	case s.known[path] && (a != ageNew || !link && !s.links[path] || s.Held.same(path, fd, name)):
		return true // a link cannot be protected: another in its place, or where a file stood, is new
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
