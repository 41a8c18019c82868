package host

import (
	"slices"

	"sbx/wrap"
)

// linkedWorktrees returns the linked worktrees that have the form that git gives them, without a
// symlink on the way: the worktree's git directory names a .git file of a writable tree, and that
// file, if it exists, names the git directory. The same must hold for all other .git files that
// lead to that git directory.
func (s *gitSearch) linkedWorktrees() (list []wrap.Worktree) {
next:
	for _, admin := range s.worktreeDirs {
		w := wrap.Worktree{Admin: admin}
		if s.tree(admin) == "" || s.isOpened(admin) || !s.leadsTo(admin, oneLine(join(admin, wrap.Commondir)), parent(parent(admin))) {
			continue
		}
		text := oneLine(join(admin, "gitdir"))
		at := resolveIn(admin, text)
		if text == "" || len(at.links) > 0 || base(at.path) != ".git" {
			continue
		}
		w.Dots = []string{at.path}
		for i := range s.repos {
			if r := &s.repos[i]; r.GitDir == admin && r.Top != "" && !slices.Contains(w.Dots, join(r.Top, ".git")) {
				w.Dots = append(w.Dots, join(r.Top, ".git"))
			}
		}
		for _, dot := range w.Dots {
			kind := kindAt(dot)
			if s.tree(dot) == "" || s.isOpened(dot) || kind != wrap.Absent && (kind != wrap.File || !s.leadsTo(parent(dot), gitFile(dot), admin)) {
				continue next
			}
		}
		list = append(list, w)
	}
	return list
}

// leadsTo reports whether a path, counted from dir, resolves to the path to without any
// symlink on the way.
func (s *gitSearch) leadsTo(dir, path, to string) bool {
	at := resolveIn(dir, path)
	return path != "" && len(at.links) == 0 && at.path == to
}
