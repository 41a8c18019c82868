package guard

import (
	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs"
	"sbx/internal/view"
	"sbx/wrap/defaults"
)

// Git on the host follows symbolic links when it writes its own files: a commit writes
// COMMIT_EDITMSG, logs and index to wherever links of these names lead, with names and texts
// that the command chose.

// Links reports whether the command must not create a symbolic link at a path of the host:
// the path is in a git directory, and the spec does not allow it.
func (s *Sweep) Links(path string) bool {
	s.prepare()
	t, rel := s.Held.find(path)
	if t == nil {
		return false
	}
	in, ok := s.ofGit(path, rel)
	return ok && !defaults.MayLink(in) && !s.allowed(path, rel)
}

// ofGit returns a path relative to the git directory around it, even one that the search at
// launch did not find.
func (s *Sweep) ofGit(path, rel string) (in string, ok bool) {
	if in, ok = s.inGit(path); !ok {
		in, ok = defaults.InGitDir(rel)
	}
	return in, ok
}

// link moves a new symbolic link out of a git directory.
func (s *Sweep) link(out *audit.Swept, t *tree, fd int, rel, name string) (gone bool) {
	path := view.Join(t.path, rel)
	var st unix.Statx_t
	if s.fixed[path] || !s.Links(path) || statx(fd, name, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return false
	}
	a := s.Held.ageOf(t, &st)
	switch {
	case a == ageOld && !s.cameAlong(t, rel):
		return false
	case a == ageUnsure && !t.clocked:
		out.AddCut(path + ": git writes through this link, and it may have been there at launch; it was left")
		return false
	}
	return s.take(out, t, fd, rel, name, audit.Moved{Kind: "link", Why: "git writes through such a link"}, false) == nil
}

// cameAlong reports whether a file in a git directory may have been moved to its place together
// with a directory above it, which leaves the file's own times unchanged. The git directory itself
// cannot be renamed. Directories of objects do not count: they change all the time, and git writes
// no text there.
func (s *Sweep) cameAlong(t *tree, rel string) bool {
	in, _ := s.ofGit(view.Join(t.path, rel), rel)
	if defaults.Under(in, "objects") {
		return false
	}
	for in = dirOf(in); in != ""; in = dirOf(in) {
		if rel = dirOf(rel); !s.isOld(t, rel) {
			return true
		}
	}
	return false
}

// index moves a changed index file of git away if the index lists paths in a git directory or
// outside of the working tree: "git checkout ." writes to every path in the index without checking.
func (s *Sweep) index(out *audit.Swept, t *tree, fd int, rel, name string) {
	path := view.Join(t.path, rel)
	in, ok := s.ofGit(path, rel)
	if !ok || defaults.MayLink(in) || s.fixed[path] || s.allowed(path, rel) {
		return
	}
	at, err := dirs.OpenBeneath(fd, name, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		if err != unix.ELOOP && err != unix.ENOENT {
			out.AddCut(path + ": " + err.Error())
		}
		return
	}
	defer dirs.Close(at)
	var st unix.Statx_t
	if unix.Statx(at, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st) != nil ||
		st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size < indexHeader || s.Held.ageOf(t, &st) == ageOld && !s.cameAlong(t, rel) {
		return
	}
	if st.Size > maxIndex {
		out.AddCut(path + ": an index too large to be looked at")
		return
	}
	head := make([]byte, indexHeader)
	n, err := dirs.ReadFull(at, head)
	if err != nil {
		out.AddCut(path + ": " + err.Error())
		return
	}
	if !isIndex(head[:n]) {
		return
	}
	if !s.git[view.Join(t.path, dirOf(rel))] || name != "index" {
		if s.indexes.long += st.Size; s.indexes.long > maxIndexes {
			s.unlooked(out, t, fd, rel, name)
			return
		}
	}
	if uint64(cap(s.indexes.block)) < st.Size {
		s.indexes.block = make([]byte, st.Size)
	}
	b := s.indexes.block[:st.Size]
	copy(b, head)
	if n, err = dirs.ReadFull(at, b[indexHeader:]); err != nil {
		out.AddCut(path + ": " + err.Error())
		return
	}
	if indexLeads(b[:indexHeader+n]) {
		_ = s.take(out, t, fd, rel, name, audit.Moved{Kind: "file", Why: "it names what git would write into a repository, or outside of the working tree"}, false)
	}
}

// unlooked handles an index file that is not read because too many were read before. It moves a
// shared index away, since git makes few of these, and only reports any other.
func (s *Sweep) unlooked(out *audit.Swept, t *tree, fd int, rel, name string) {
	const why = "there are more indexes than can be looked at"
	if name == "index" {
		out.AddCut(view.Join(t.path, rel) + ": " + why)
		return
	}
	_ = s.take(out, t, fd, rel, name, audit.Moved{Kind: "file", Why: why}, false)
}
