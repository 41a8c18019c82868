package host

import (
	"cmp"

	"sbx/wrap"
)

// dotGit protects the repository whose .git is in the directory top.
func (s *gitSearch) dotGit(top string, kind wrap.Kind) {
	const why = "git takes the repository's place from it"
	dot := join(top, ".git")
	dir := dot
	if kind == wrap.Symlink {
		at := s.protectPath(top, ".git", why)
		dir, kind = at.path, at.kind
	}
	switch kind {
	case wrap.File:
		s.add(dir, kind, why)
		text := gitFile(dir)
		if text == "" {
			return
		}
		dir = s.followLinks(top, text)
	case wrap.Dir:
	default:
		s.add(dir, kind, why)
		return
	}
	s.protectRepository(dir, top)
}

// protectRepository protects the files that git runs because of a git directory. top is its
// working tree; "" if the repository is bare or the working tree unknown.
func (s *gitSearch) protectRepository(dir, top string) {
	if s.isSeen(dir) {
		return
	}
	f, ok := s.readGitDir(dir)
	if !ok {
		return
	}
	s.gitDirs = append(s.gitDirs, dir)
	if top != "" {
		s.protectHead(top)
	}
	repo := wrap.Repository{Top: top, GitDir: dir, Common: dir}
	if f.has("commondir") {
		repo.Common = s.commonDir(dir)
	}
	s.checkOutside(&repo)
	from := cmp.Or(top, dir)
	s.protectGitDir(&f, repo.Common != dir, from)
	var list []named
	if repo.Common != dir {
		list = s.readConfig(repo.Common, join(repo.Common, "config"), 0, list)
	} else {
		list = s.readConfig(dir, join(dir, "config"), 0, list)
	}
	if f.has("config.worktree") {
		list = s.readConfig(dir, join(dir, "config.worktree"), 0, list)
	}
	s.protectNamed(list, from)
	s.protectNamed(s.userNamed, from)
	if f.has("modules") {
		s.submoduleDirs = append(s.submoduleDirs, join(dir, "modules"))
	}
	s.worktrees(&repo, f.has("worktrees"))
	if repo.Outside || top != "" && anyWithin(top, s.trees) || anyWithin(dir, s.trees) && !s.isOutside(dir) {
		s.repos = append(s.repos, repo)
	}
	if repo.Common != dir {
		s.protectRepository(repo.Common, mainTop(repo.Common))
	}
}

// protectHead keeps the top of a working tree or of a writable tree from becoming a bare
// repository: as soon as its .git is damaged, git would take the directory itself for one,
// and read the configuration there.
func (s *gitSearch) protectHead(top string) {
	if kindAt(join(top, "HEAD")) == wrap.Absent && !s.isOpened(join(top, ".git")) {
		s.add(join(top, "HEAD"), wrap.Absent, "git would take the directory itself for a repository, and its configuration from there")
	}
}

// mainTop returns the main working tree of a common directory called .git; "" for any other
// name.
func mainTop(common string) string {
	if base(common) == ".git" {
		return parent(common)
	}
	return ""
}
