package host

import (
	"strings"

	"sbx/spec"
	"sbx/wrap"
)

// protectedNames finds the protected paths in the writable trees.
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
	if p.r.WritesWorkDir() { // it stays a tree of its own inside a larger one
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
	p.h.GitDirs, p.h.Around, p.h.Left = s.gitDirs, s.around, s.leftNames
	p.h.Worktrees = s.linkedWorktrees()
	p.h.SearchCut, p.h.NamedCut = s.searchCut, s.programs.partial
}

func (s *gitSearch) search() {
	s.userConfig()
	s.protectProfiles()
	s.protectHomes()
	s.protectState()
	for _, tree := range s.inner { // the walk of the outer tree may not reach it
		s.protectHead(tree)
		s.protectTop(tree)
	}
	for _, tree := range append([]string(nil), s.trees...) {
		s.protectHead(tree)
		s.repositoriesAbove(tree)
		s.walk(tree)
	}
	s.submodules()
	// A command can turn any directory into a bare repository, but cannot create a .git. Bare
	// repositories come last so that planted ones do not use up the limits.
	for _, dir := range s.bare {
		s.protectRepository(dir, "")
	}
	s.submodules()
}

// submodules searches the submodules found so far.
func (s *gitSearch) submodules() {
	for len(s.submoduleDirs) > 0 {
		dir := s.submoduleDirs[0]
		s.submoduleDirs = s.submoduleDirs[1:]
		s.walkModules(dir)
	}
}

// userConfig reads the configuration that applies to every repository.
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
		s.userNamed = s.readConfig(dirOf("/", file), at.path, 0, s.userNamed)
	}
}

// protectProfiles protects the directory from which sbx reads the user's changes to its
// profiles: if the home is the workspace, the command could otherwise widen its next sandbox.
func (s *gitSearch) protectProfiles() {
	dir, ok := s.p.env("XDG_CONFIG_HOME")
	if !ok || dir == "" || dir[0] != '/' {
		if dir = join(s.home, ".config"); s.home == "" {
			return
		}
	}
	s.protectPath("/", join(dir, "sbx"), "sbx: profiles.yaml widens what later runs may do")
}

// repositoriesAbove protects the repositories that contain a tree. They stay read-only, but
// the programs that they run may lie in the tree.
func (s *gitSearch) repositoriesAbove(tree string) {
	for dir := tree; dir != "/"; {
		dir = parent(dir)
		if kind := kindAt(join(dir, ".git")); kind != wrap.Absent {
			s.around = append(s.around, dir)
			s.dotGit(dir, kind)
		}
	}
}

// addAgentTrees makes the directories that an agent itself writes into trees.
func (s *gitSearch) addAgentTrees() {
	for i := range s.p.r.Write {
		if w := &s.p.r.Write[i]; w.Field == wrap.FieldAgent && w.Exists && w.IsDir {
			s.addInnerTree(w.Real)
		}
	}
}

// protectTop protects the names at the top of a tree, and its repository if it has one.
func (s *gitSearch) protectTop(tree string) {
	s.protectInTree(tree)
	if kind := kindAt(join(tree, ".git")); kind != wrap.Absent {
		s.dotGit(tree, kind)
	}
}
