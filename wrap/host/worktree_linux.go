package host

import (
	"slices"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/internal/read"
	"sbx/wrap"
)

// commonDir returns the directory that a linked worktree's commondir file names.
func (s *gitSearch) commonDir(dir string) string {
	text := oneLine(join(dir, "commondir"))
	if text == "" {
		return dir
	}
	return s.followLinks(dir, text)
}

// checkOutside decides whether a common directory outside every writable tree becomes
// writable. Any text can stand in a .git file of the workspace, so the directory outside
// must agree: a linked worktree's directory there must name this .git, a submodule's
// configuration this working tree.
func (s *gitSearch) checkOutside(repo *wrap.Repository) {
	if repo.Top == "" || !anyWithin(repo.Top, s.trees) || anyWithin(repo.Common, s.trees) {
		return
	}
	// A bare repository that contains its worktrees: if it became writable, so would the other
	// working trees.
	holds := slices.ContainsFunc(s.trees, func(tree string) bool { return within(tree, repo.Common) })
	if !holds && s.pointsBack(repo) {
		repo.Outside = true
		s.addTree(repo.Common)
	}
}

func (s *gitSearch) pointsBack(repo *wrap.Repository) bool {
	if repo.Common != repo.GitDir {
		if parent(repo.GitDir) != join(repo.Common, "worktrees") {
			return false
		}
		text := oneLine(join(repo.GitDir, "gitdir"))
		return text != "" && resolveIn(repo.GitDir, text).path == join(repo.Top, ".git")
	}
	b, ok := read.Regular(join(repo.GitDir, "config"), maxConfigBytes)
	back := false
	if ok {
		parseGitConfig(string(b), func(v gitVar) {
			if v.Section == "core" && v.Sub == "" && v.Key == "worktree" {
				back = v.Value != "" && resolveIn(repo.GitDir, v.Value).path == repo.Top
			}
		})
	}
	return back
}

// worktrees visits the linked worktrees of a common directory. If the common directory is
// writable only because the command runs in one of them, the others become read-only;
// otherwise their own protected names are protected.
func (s *gitSearch) worktrees(repo *wrap.Repository, here bool) {
	if !here && !repo.Outside {
		return
	}
	dir := join(repo.Common, "worktrees")
	fd, err := dirs.OpenReal(dir, listing)
	if err != nil {
		return
	}
	var names []string
	_ = s.p.dirs.Each(fd, func(name []byte, _ byte) bool {
		names = append(names, join(dir, string(name)))
		return len(names) < maxWorktrees
	})
	unix.Close(fd)
	if len(names) == maxWorktrees {
		s.noteCut("more than " + itoa(maxWorktrees) + " linked worktrees")
	}
	for _, name := range names {
		if repo.Outside && name != repo.GitDir {
			repo.Others = append(repo.Others, name)
		}
		if repo.Outside || s.isOutside(name) {
			continue
		}
		if f, ok := s.readGitDir(name); ok {
			s.worktreeDirs = append(s.worktreeDirs, name)
			s.protectGitDir(&f, true, name)
			if f.has("modules") {
				s.submoduleDirs = append(s.submoduleDirs, join(name, "modules"))
			}
		}
	}
}
