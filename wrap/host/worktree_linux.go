package host

import (
	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/wrap"
)

// commonOf is the directory that a linked worktree's commondir names.
func (s *gitSearch) commonDir(dir string) string {
	text := oneLine(join(dir, "commondir"))
	if text == "" {
		return dir
	}
	return s.followLinks(dir, text)
}

// reach decides whether a common directory outside of every writable tree is to
// be writable. Any text can stand in a .git file of the workspace, so the
// outside has to agree: a linked worktree's directory there names this .git, a
// submodule's configuration this working tree.
func (s *gitSearch) checkOutside(repo *wrap.Repository) {
	if repo.Top == "" || !anyWithin(repo.Top, s.trees) || anyWithin(repo.Common, s.trees) {
		return
	}
	// A bare repository with its worktrees in it: making it writable would make
	// the other working trees so.
	for _, tree := range s.trees {
		if within(tree, repo.Common) {
			repo.Astray = repo.Common + " holds " + tree + " and more"
			return
		}
	}
	if s.pointsBack(repo) {
		repo.Outside = true
		s.addTree(repo.Common)
		return
	}
	repo.Astray = repo.Common + " does not point back to " + repo.Top
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

// worktrees looks at a common directory's linked worktrees. Where the directory is
// writable only because the command runs in one of them, the others' are
// read-only; else their own protected names are.
func (s *gitSearch) worktrees(repo *wrap.Repository, here bool) {
	if !here && !repo.Outside {
		return
	}
	dir := join(repo.Common, "worktrees")
	fd, err := openBeneath(unix.AT_FDCWD, dir)
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
