package host

import (
	"strings"

	"sbx/spec"
	"sbx/wrap"
)

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
			s.addInnerTree(m.Source.Real)
		}
	}
	if p.r.WritesWorkDir() { // it stays a tree in a larger one
		s.addInnerTree(p.r.WorkingDir.Real)
	}
	s.addAgentTrees()
	if len(s.trees) == 0 {
		return
	}
	for _, t := range p.r.Tops {
		if s.tree(t) != "" {
			s.addInnerTree(t)
		}
	}
	for _, g := range p.r.Globs {
		s.globs = append(s.globs, strings.TrimPrefix(g, "**/"))
	}
	s.search()
	s.protectLocked()
	p.h.Protected = s.protectedRows()
	p.h.Unmade = s.unmadeRows(p.h.Protected)
	p.h.Repositories = s.repos
	p.h.GitFolders, p.h.Around, p.h.Left = s.gitDirs, s.around, s.leftNames
	p.h.Worktrees = s.linkedWorktrees()
	p.h.SearchCut, p.h.NamedCut = s.searchCut, s.programs.partial
}

func (s *gitSearch) search() {
	s.userConfig()
	s.protectProfiles()
	s.protectHomes()
	s.protectState()
	for _, tree := range s.inner { // which the walk of the other may not come to
		s.protectHead(tree)
		s.protectTop(tree)
	}
	for _, tree := range append([]string(nil), s.trees...) {
		s.protectHead(tree)
		s.repositoriesAbove(tree)
		s.walk(tree)
	}
	s.submodules()
	// Any directory can be made a bare repository inside, while no .git can: those
	// that an earlier command left must not use up what the others need.
	for _, dir := range s.bare {
		s.protectRepository(dir, "")
	}
	s.submodules()
}

// submodules looks at what was found of them so far.
func (s *gitSearch) submodules() {
	for len(s.submoduleDirs) > 0 {
		dir := s.submoduleDirs[0]
		s.submoduleDirs = s.submoduleDirs[1:]
		s.walkModules(dir)
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
		s.userNamed = s.readConfig(folderOf("/", file), at.path, 0, s.userNamed)
	}
}

// userProfiles protects where sbx itself reads what a person widens its profiles
// by: in a home that is a workspace the command could write its next sandbox.
func (s *gitSearch) protectProfiles() {
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
func (s *gitSearch) repositoriesAbove(tree string) {
	for dir := tree; dir != "/"; {
		dir = parent(dir)
		if kind := kindAt(join(dir, ".git")); kind != wrap.Absent {
			s.around = append(s.around, dir)
			s.dotGit(dir, kind)
		}
	}
}

// ownTrees makes trees of the directories that an agent writes.
func (s *gitSearch) addAgentTrees() {
	for i := range s.p.r.Write {
		if w := &s.p.r.Write[i]; w.Field == wrap.FieldAgent && w.Exists && w.IsDir {
			s.addInnerTree(w.Real)
		}
	}
}

// top protects the names at the top of a tree, and the repository that it is.
func (s *gitSearch) protectTop(tree string) {
	s.protectInTree(tree)
	if kind := kindAt(join(tree, ".git")); kind != wrap.Absent {
		s.dotGit(tree, kind)
	}
}
