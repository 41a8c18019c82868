package host

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// walk searches a writable tree for repositories, the nearest first. Directories of
// dependencies come last, so that a search that reaches its limit leaves those out.
func (s *gitSearch) walk(tree string) {
	root, err := dirs.OpenReal(tree, listing)
	if err != nil {
		s.noteCut(tree + " could not be read")
		return
	}
	defer unix.Close(root)
	w := walker{s: s, tree: tree, root: root, next: []pendingDir{{}}}
	for i := range s.p.h.Mounts {
		if m := &s.p.h.Mounts[i]; m.Type == "autofs" && beneath(m.Path, tree) {
			w.autofs = append(w.autofs, relative(m.Path, tree))
		}
	}
	for {
		if len(w.next) == 0 {
			w.next, w.late = w.late, nil
		}
		if len(w.next) == 0 && s.entries < maxEntries {
			return
		}
		if s.dirs >= maxDirs || s.entries >= maxEntries {
			s.noteCut("only the nearest " + itoa(s.dirs) + " directories with " + itoa(s.entries) + " names were looked at; " +
				itoa(len(w.next)+len(w.late)) + " more under " + tree + " are known and were not")
			return
		}
		b := w.next[0]
		w.next = w.next[1:]
		w.visit(b)
	}
}

// walker is the search in one tree. It opens directories from the tree's own descriptor,
// without following symlinks.
type walker struct {
	s          *gitSearch
	tree       string
	root       int
	autofs     []string // directories that are mounted on demand: reading one could wait for a server
	next, late []pendingDir
}

// pendingDir is a directory to be visited, relative to the tree.
type pendingDir struct {
	rel   string
	depth int
}

// visit reads one directory, queues the directories in it and protects a repository that it
// contains.
func (w *walker) visit(b pendingDir) {
	s := w.s
	fd := w.root
	if b.rel != "" {
		var err error
		if fd, err = dirs.OpenAcross(w.root, b.rel, listing); err != nil {
			if err != unix.ENOENT && err != unix.ELOOP && err != unix.ENOTDIR {
				s.noteCut(join(w.tree, b.rel) + " could not be read")
			}
			return
		}
		defer unix.Close(fd)
	}
	s.dirs++
	l := gitDirNames{}
	dot, named := wrap.Absent, false
	queued, lateQueued := len(w.next), len(w.late)
	_ = s.p.dirs.Each(fd, func(name []byte, dtype byte) bool {
		s.entries++
		if string(name) == ".git" {
			dot = kindIn(fd, ".git", dtype)
			return true
		}
		l.add(fd, name, dtype)
		named = named || isTreeName(name)
		if dtype == unix.DT_DIR || dtype == unix.DT_UNKNOWN && kindIn(fd, string(name), dtype) == wrap.Dir {
			w.queue(b, name)
		}
		return s.entries < maxEntries
	})
	path := w.tree
	if b.rel != "" {
		path = join(w.tree, b.rel)
	}
	if named && (b.rel == "" || dot != wrap.Absent) {
		s.protectInTree(path)
	}
	if l.isGit() { // a bare repository or a directory that imitates one
		w.next = append(w.next[:queued], slices.DeleteFunc(w.next[queued:], isGitsOwn)...)
		w.late = append(w.late[:lateQueued], slices.DeleteFunc(w.late[lateQueued:], isGitsOwn)...)
		s.bare = append(s.bare, path)
	}
	if dot != wrap.Absent {
		s.dotGit(path, dot)
	}
}

// isGitsOwn reports whether a directory of a bare repository is one of git's own, which
// contain no working tree.
func isGitsOwn(b pendingDir) bool {
	switch base(b.rel) {
	case "branches", "hooks", "info", "lfs", "logs", "modules", "objects", "refs", "worktrees":
		return true
	}
	return false
}

// isTreeName reports whether name is the first part of a row of ProtectedInTree.
func isTreeName(name []byte) bool {
	for _, row := range defaults.ProtectedInTree() {
		if row.Path[0] != name[0] && row.Path[0] != '*' { // true for nearly every name
			continue
		}
		first, _, _ := strings.Cut(row.Path, "/")
		if head, tail, star := strings.Cut(first, "*"); first == string(name) ||
			star && len(name) >= len(first)-1 && strings.HasPrefix(string(name), head) && strings.HasSuffix(string(name), tail) {
			return true
		}
	}
	return false
}

// queue adds a directory to those that will be visited.
func (w *walker) queue(b pendingDir, name []byte) {
	if b.depth >= maxDepth || len(b.rel)+len(name) > 3500 {
		w.s.noteCut("directories more than " + itoa(maxDepth) + " deep in " + w.tree + " were not looked at")
		return
	}
	rel := string(name)
	if b.rel != "" {
		rel = b.rel + "/" + rel
	}
	if slices.Contains(w.autofs, rel) {
		w.s.noteCut(join(w.tree, rel) + " is mounted on demand and was not looked at")
		return
	}
	n := pendingDir{rel, b.depth + 1}
	if isDependencies(name) {
		w.late = append(w.late, n)
	} else {
		w.next = append(w.next, n)
	}
}

// isDependencies reports whether a directory of this name usually holds other people's code or
// the
// output of a build; such directories are visited last.
func isDependencies(name []byte) bool {
	switch string(name) {
	case "node_modules", "vendor", "target", ".venv", "venv", "build", "dist", "__pycache__", ".cache", ".tox", ".gradle":
		return true
	}
	return false
}

// walkModules protects the git directories of submodules. They lie in the directory modules
// of their repository, under names with one or more parts, and may contain such directories
// themselves. They have limits of their own: a command can create any number of directories
// in the workspace, but none here.
func (s *gitSearch) walkModules(dir string) {
	next := []pendingDir{{rel: dir}}
	for len(next) > 0 {
		if s.inModules.dirs >= maxDirs || s.inModules.entries >= maxEntries {
			s.noteCut("not all submodules of " + dir + " were looked at")
			return
		}
		b := next[0]
		next = next[1:]
		fd, err := dirs.OpenReal(b.rel, listing)
		if err != nil {
			if err != unix.ENOENT {
				s.noteCut(b.rel + " could not be read")
			}
			continue
		}
		s.inModules.dirs++
		l := gitDirNames{dir: b.rel}
		var links []string
		n := len(next)
		_ = s.p.dirs.Each(fd, func(name []byte, dtype byte) bool {
			s.inModules.entries++
			l.add(fd, name, dtype)
			switch kindIn(fd, string(name), dtype) {
			case wrap.Dir:
				if b.depth == maxDepth {
					s.noteCut("directories more than " + itoa(maxDepth) + " deep in " + dir + " were not looked at")
				} else {
					next = append(next, pendingDir{join(b.rel, string(name)), b.depth + 1})
				}
			case wrap.Symlink:
				links = append(links, join(b.rel, string(name)))
			}
			return s.inModules.entries < maxEntries
		})
		unix.Close(fd)
		if s.inModules.entries >= maxEntries {
			s.noteCut("not all submodules of " + dir + " were looked at")
		}
		if l.isGit() {
			next = next[:n]
			s.protectRepository(b.rel, "")
			continue
		}
		s.protectLeftovers(&l, links)
	}
}

// protectLeftovers protects names in modules that belong to no git directory: git would obey
// them if one were made there. It also protects symlinks that may lead to a git directory. A
// directory
// of such a name may be a submodule's and is only reported.
func (s *gitSearch) protectLeftovers(l *gitDirNames, links []string) {
	for _, row := range defaults.ProtectedInGit() {
		switch kind := l.kind(row.Path); kind {
		case wrap.Absent, wrap.Symlink:
		case wrap.Dir:
			s.leftNames = append(s.leftNames, join(l.dir, row.Path))
		default:
			s.add(join(l.dir, row.Path), kind, row.Why)
		}
	}
	for _, link := range links {
		s.add(link, wrap.Symlink, "git would take a submodule's directory from it")
	}
}
