package host

import (
	"slices"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// gitDirNames are the kinds of the relevant names in a git directory.
type gitDirNames struct {
	dir   string
	names [len(gitNames)]wrap.Kind
}

// gitNames are the names in a git directory that the search needs. Those up to "lazygit.yml"
// are the rows of defaults.ProtectedInGit, in that table's order.
var gitNames = [...]string{"commondir", "config", "config.worktree", "gitdir", "hooks", "lazygit.yml", "HEAD", "modules", "objects", "refs", "worktrees"}

func (l *gitDirNames) kind(name string) wrap.Kind {
	if i := slices.Index(gitNames[:], name); i >= 0 {
		return l.names[i]
	}
	return wrap.Absent
}

func (l *gitDirNames) has(name string) bool { return l.kind(name) != wrap.Absent }

// add records a name of the directory.
func (l *gitDirNames) add(fd int, name []byte, dtype byte) {
	for i := range gitNames {
		if gitNames[i] == string(name) {
			l.names[i] = kindIn(fd, gitNames[i], dtype)
		}
	}
}

// readGitDir reads the names of a git directory.
func (s *gitSearch) readGitDir(dir string) (l gitDirNames, ok bool) {
	l.dir = dir
	fd, err := dirs.OpenReal(dir, listing)
	if err != nil {
		return l, false
	}
	defer unix.Close(fd)
	s.dirs++
	_ = s.p.dirs.Each(fd, func(name []byte, dtype byte) bool {
		s.entries++
		l.add(fd, name, dtype)
		return s.entries < maxEntries
	})
	return l, true
}

// protectGitDir protects the names of a git directory: those that exist, and those that
// would take effect if they were created. A linked worktree's directory has no
// configuration and no hooks of its own except config.worktree. Git runs hooks in the
// directory top.
func (s *gitSearch) protectGitDir(l *gitDirNames, linked bool, top string) {
	for _, row := range defaults.ProtectedInGit() {
		kind := l.kind(row.Path)
		path := join(l.dir, row.Path)
		switch {
		case kind == wrap.Symlink:
			if at := s.protectPath(l.dir, row.Path, row.Why); at.kind == wrap.Dir {
				s.protectHooks(at.path, top)
			}
		case kind != wrap.Absent:
			s.add(path, kind, row.Why)
			if row.Path == "hooks" && kind == wrap.Dir {
				s.protectHooks(path, top)
			}
		case linked == (row.Path == "gitdir") || row.Path == "config.worktree":
			s.add(path, wrap.Absent, row.Why)
		}
	}
	if !linked && !l.has("modules") {
		s.add(join(l.dir, "modules"), wrap.Absent, "git would take a submodule's configuration and hooks from it")
	}
}

// isGit reports whether the names make the directory a git directory, as git's
// is_git_directory does.
func (l *gitDirNames) isGit() bool {
	return l.has("HEAD") && (l.has("commondir") || l.kind("objects") != wrap.File && l.has("objects") && l.has("refs"))
}
