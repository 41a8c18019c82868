package host

import (
	"slices"

	"sbx/wrap"
)

// linked lists the linked worktrees that are as git makes them, without a link
// on the way: their directory names a .git file of a writable tree, and that file,
// where it is there, the directory. So do all other .git files that were found to
// lead there.
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

// leadsTo tells whether a path, counted from dir, is that of to, with no link on
// the way.
func (s *gitSearch) leadsTo(dir, path, to string) bool {
	at := resolveIn(dir, path)
	return path != "" && len(at.links) == 0 && at.path == to
}
