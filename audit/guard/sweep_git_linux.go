package guard

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/internal/view"
	"sbx/wrap/defaults"
)

// missing notes the absent directories above an absent path: if a directory is renamed to one of
// them, it may bring the path along.
func (s *Sweep) missing(path string) {
	t, rel := s.Held.find(path)
	if t == nil {
		return
	}
	for dir := dirOf(rel); dir != "" && dir != "."; dir = dirOf(dir) {
		fd, err := dirs.OpenBeneath(t.fd, dir, unix.O_PATH)
		if err == nil {
			dirs.Close(fd)
			return
		}
		if err != unix.ENOENT {
			return
		}
		s.toward[view.Join(t.path, dir)] = true
	}
}

// inGit returns path relative to the innermost git directory that existed at launch.
func (s *atLaunch) inGit(path string) (rel string, ok bool) {
	if len(s.git) == 0 {
		return "", false
	}
	for end := strings.LastIndexByte(path, '/'); end > 0; end = strings.LastIndexByte(path[:end], '/') {
		if s.git[path[:end]] {
			return path[end+1:], true
		}
	}
	return "", false
}

// forbidden reports whether a path must not be created, because of its name or because a
// repository's configuration gives the path a meaning.
func (s *Sweep) forbidden(path, rel string) bool {
	if s.Match(rel) || s.unmade[path] {
		return true
	}
	in, ok := s.inGit(path)
	return ok && defaults.IsProtectedInGit(in)
}

// leads reports whether a path is a directory that leads to a protected name.
func (s *Sweep) leads(path, rel string) bool {
	if s.Leads != nil && s.Leads(rel) || s.toward[path] {
		return true
	}
	in, ok := s.inGit(path)
	return ok && defaults.LeadsInGit(in, !s.Cut)
}

// Part reports whether a name, without its directory, may be part of a path that must
// not be created.
func (s *Sweep) Part(name string) bool {
	s.prepare()
	if defaults.IsProtectedPart(name) {
		return true
	}
	for _, set := range []map[string]bool{s.unmade, s.toward} {
		for path := range set {
			if path[strings.LastIndexByte(path, '/')+1:] == name {
				return true
			}
		}
	}
	return false
}

// ambiguous reports whether a path may be a branch of a submodule that the search at launch did not
// reach ("modules/a/logs/refs/heads/config").
func (s *Sweep) ambiguous(path, rel string) bool {
	in, ok := s.inGit(path)
	return ok && !s.Match(rel) && !s.Match(".git/"+in) && !s.unmade[path]
}

// brought reports whether a file may have been moved to its place together with a directory above
// it, which leaves the file's own times unchanged. That requires a directory above the file that
// leads to protected names and was created, renamed or changed since the launch.
func (s *Sweep) brought(t *tree, rel string) bool {
	for dir := dirOf(rel); dir != "" && dir != "."; dir = dirOf(dir) {
		path := view.Join(t.path, dir)
		if s.known[path] || s.git[path] {
			return false
		}
		// The search at launch does not ignore case at the root of a tree, so a name in other case
		// may have existed already.
		if s.leads(path, dir) && !s.isOld(t, dir) && (s.Leads == nil || !s.Leads(dir) || rel == strings.ToLower(rel)) {
			return true
		}
	}
	return false
}

// isOld reports whether a directory is unchanged since the launch.
func (s *Sweep) isOld(t *tree, rel string) bool {
	fd, err := dirs.OpenBeneath(t.fd, rel, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return false
	}
	defer dirs.Close(fd)
	var st unix.Statx_t
	err = unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st)
	return err == nil && s.Held.ageOf(t, &st) == ageOld
}
