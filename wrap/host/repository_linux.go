package host

import (
	"cmp"
	"slices"
	"strings"

	"sbx/spec"
	"sbx/wrap"
)

// gitSearch looks for repositories and what they make git run.
type gitSearch struct {
	guarded
	p      *secretSearch
	home   string
	user   []named  // what the user's and the system's configuration name
	later  []string // directories of submodules' git directories
	cutWhy string
	gitFound
	gitLooked
}

// gitFound is what a gitSearch has found.
type gitFound struct {
	repos    []wrap.Repository
	bare     []string // directories that are bare repositories, or look like one
	git      []string // git directories
	around   []string // tops of repositories that a tree lies in
	admins   []string // directories of linked worktrees
	left     []string // protected names that are left as they are
	programs programs
}

// maxRepositories bounds the git directories of one search.
const maxRepositories = 256

// cut notes that something was not looked at; the first reason stays.
func (s *gitSearch) cut(why string) {
	if s.cutWhy == "" {
		s.cutWhy = why
	}
}

// protectedNames finds what is protected in the writable trees.
func (p *secretSearch) protectedNames() {
	s := gitSearch{p: p, home: p.r.Home}
	for i := range p.r.Write {
		w := &p.r.Write[i]
		if w.Exists && w.IsDir && w.Field != wrap.FieldAgent && !wrap.OpensGit(w) {
			s.addTree(w.Real)
		}
		if w.InWrite() {
			s.opened = append(s.opened, w.Real)
		}
	}
	if j := p.r.Job; j != nil && j.Output.Real != "" {
		s.addTree(j.Output.Real)
	}
	for i := range p.r.Mounts {
		if m := &p.r.Mounts[i]; m.Mode == spec.MountRW && m.Source.IsDir {
			s.addOwn(m.Source.Real)
		}
	}
	if p.r.WritesWorkDir() { // it stays a tree in a larger one
		s.addOwn(p.r.WorkingDir.Real)
	}
	s.ownTrees()
	if len(s.trees) == 0 {
		return
	}
	for _, t := range p.r.Tops {
		if s.tree(t) != "" {
			s.addOwn(t)
		}
	}
	for _, g := range p.r.Globs {
		s.globs = append(s.globs, strings.TrimPrefix(g, "**/"))
	}
	s.search()
	s.locked()
	p.h.Protected = s.rows()
	p.h.Unmade = s.missing(p.h.Protected)
	p.h.Repositories = s.repos
	p.h.GitFolders, p.h.Around, p.h.Left = s.git, s.around, s.left
	p.h.Worktrees = s.linked()
	p.h.SearchCut, p.h.NamedCut = s.cutWhy, s.programs.short
}

func (s *gitSearch) search() {
	s.userConfig()
	s.userProfiles()
	s.homeNames()
	s.wayToState()
	for _, tree := range s.inner { // which the walk of the other may not come to
		s.noHead(tree)
		s.top(tree)
	}
	for _, tree := range append([]string(nil), s.trees...) {
		s.noHead(tree)
		s.above(tree)
		s.walk(tree)
	}
	s.submodules()
	// Any directory can be made a bare repository inside, while no .git can: those
	// that an earlier command left must not use up what the others need.
	for _, dir := range s.bare {
		s.gitFolder(dir, "")
	}
	s.submodules()
}

// submodules looks at what was found of them so far.
func (s *gitSearch) submodules() {
	for len(s.later) > 0 {
		dir := s.later[0]
		s.later = s.later[1:]
		s.modules(dir)
	}
}

// userConfig reads what applies to every repository.
func (s *gitSearch) userConfig() {
	files := []string{join(s.p.root, "etc/gitconfig")}
	if file, ok := s.p.env("GIT_CONFIG_GLOBAL"); ok {
		files = append(files, file)
	} else if s.home != "" {
		dir, ok := s.p.env("XDG_CONFIG_HOME")
		if !ok || dir == "" {
			dir = join(s.home, ".config")
		}
		files = append(files, join(dir, "git/config"), join(s.home, ".gitconfig"))
	}
	for _, file := range files {
		if file == "" || file[0] != '/' {
			continue
		}
		at := s.protectPath("/", file, "git reads it as the user's configuration")
		s.user = s.gitConfig(folderOf("/", file), at.path, 0, s.user)
	}
}

// userProfiles protects where sbx itself reads what a person widens its profiles
// by: in a home that is a workspace the command could write its next sandbox.
func (s *gitSearch) userProfiles() {
	dir, ok := s.p.env("XDG_CONFIG_HOME")
	if !ok || dir == "" || dir[0] != '/' {
		if dir = join(s.home, ".config"); s.home == "" {
			return
		}
	}
	s.protectPath("/", join(dir, "sbx"), "sbx: profiles.yaml widens what later runs may do")
}

// above looks for the repositories that a tree lies in: they stay read-only,
// but what they run may lie in the tree.
func (s *gitSearch) above(tree string) {
	for dir := tree; dir != "/"; {
		dir = parent(dir)
		if kind := kindAt(join(dir, ".git")); kind != wrap.Absent {
			s.around = append(s.around, dir)
			s.repository(dir, kind)
		}
	}
}

// namesIn protects the names of the table that stand in dir.
func (s *gitSearch) namesIn(dir string) {
	found := s.p.rows(wrap.ProtectedInTree(), dir, false)
	for _, f := range found {
		if f.Target == "" && f.Path == f.Real {
			s.add(f.Path, f.Kind, f.Why)
		} else {
			s.protectPath("/", f.Path, f.Why)
		}
	}
	for i := range found {
		s.settings(dir, &found[i])
	}
	if kindAt(join(dir, ".jj/repo")) == wrap.File { // one of several working copies
		s.protectPath(dir, ".jj/repo", "Jujutsu takes the repository and its settings from the directory that it names")
	}
}

// repository looks at the repository whose .git stands in the directory top.
func (s *gitSearch) repository(top string, kind wrap.Kind) {
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
		dir = s.linksTo(top, text)
	case wrap.Dir:
	default:
		s.add(dir, kind, why)
		return
	}
	s.gitFolder(dir, top)
}

// gitFolder protects what a git directory runs. top is its working tree; "" for a
// bare repository or where it is not known.
func (s *gitSearch) gitFolder(dir, top string) {
	if s.isSeen(dir) {
		return
	}
	f, ok := s.readGitDir(dir)
	if !ok {
		return
	}
	s.git = append(s.git, dir)
	if top != "" {
		s.noHead(top)
	}
	repo := wrap.Repository{Top: top, GitDir: dir, Common: dir}
	if f.has("commondir") {
		repo.Common = s.commonOf(dir)
	}
	s.reach(&repo)
	from := cmp.Or(top, dir)
	s.gitNames(&f, repo.Common != dir, from)
	var list []named
	if repo.Common != dir {
		list = s.gitConfig(repo.Common, join(repo.Common, "config"), 0, list)
	} else {
		list = s.gitConfig(dir, join(dir, "config"), 0, list)
	}
	if f.has("config.worktree") {
		list = s.gitConfig(dir, join(dir, "config.worktree"), 0, list)
	}
	s.apply(list, from)
	s.apply(s.user, from)
	if f.has("modules") {
		s.later = append(s.later, join(dir, "modules"))
	}
	s.worktrees(&repo, f.has("worktrees"))
	if repo.Outside || top != "" && anyWithin(top, s.trees) || anyWithin(dir, s.trees) && !s.isOutside(dir) {
		s.repos = append(s.repos, repo)
	}
	if repo.Common != dir {
		s.gitFolder(repo.Common, mainTop(repo.Common))
	}
}

// noHead keeps a working tree's top, or a writable tree's, from becoming a bare
// repository: git takes it for one, with the configuration beside it, as soon as
// its .git is spoilt.
func (s *gitSearch) noHead(top string) {
	if kindAt(join(top, "HEAD")) == wrap.Absent && !s.isOpened(join(top, ".git")) {
		s.add(join(top, "HEAD"), wrap.Absent, "git would take the directory itself for a repository, and its configuration from there")
	}
}

// isOutside tells whether a git directory lies in a common directory that is
// writable only because a linked worktree needs it.
func (s *gitSearch) isOutside(dir string) bool {
	for i := range s.repos {
		if s.repos[i].Outside && within(dir, s.repos[i].Common) {
			return true
		}
	}
	return false
}

// mainTop is the main working tree of a common directory, as far as its name
// tells; "" for a bare one.
func mainTop(common string) string {
	if base(common) == ".git" {
		return parent(common)
	}
	return ""
}

// isSeen tells whether a git directory was looked at, and notes that it is now.
func (s *gitSearch) isSeen(dir string) bool {
	if slices.Contains(s.seen, dir) {
		return true
	}
	if len(s.seen) == maxRepositories {
		s.cut("more than " + itoa(maxRepositories) + " repositories; " + dir + " and others were not looked at")
		return true
	}
	s.seen = append(s.seen, dir)
	return false
}
