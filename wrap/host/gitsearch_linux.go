package host

import (
	"slices"

	"sbx/wrap"
)

// gitSearch looks for repositories and what they make git run.
type gitSearch struct {
	protection
	p             *secretSearch
	home          string
	userNamed     []named  // what the user's and the system's configuration name
	submoduleDirs []string // directories of submodules' git directories
	searchCut     string
	gitFound
	gitVisited
}

// gitFound is what a gitSearch has found.
type gitFound struct {
	repos        []wrap.Repository
	bare         []string // directories that are bare repositories, or look like one
	gitDirs      []string // git directories
	around       []string // tops of repositories that a tree lies in
	worktreeDirs []string // directories of linked worktrees
	leftNames    []string // protected names that are left as they are
	programs     programs
}

// Bounds of the search for repositories in one launch. A directory costs 3 to 5
// us, so that the worst workspace delays a start by some 10 ms.
const (
	maxFolders = 2000
	maxEntries = 50000
	maxDepth   = 32
)

// maxRepositories bounds the git directories of one search.
const maxRepositories = 256

// cut notes that something was not looked at; the first reason stays.
func (s *gitSearch) noteCut(why string) {
	if s.searchCut == "" {
		s.searchCut = why
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

// isSeen tells whether a git directory was looked at, and notes that it is now.
func (s *gitSearch) isSeen(dir string) bool {
	if slices.Contains(s.gitDirsSeen, dir) {
		return true
	}
	if len(s.gitDirsSeen) == maxRepositories {
		s.noteCut("more than " + itoa(maxRepositories) + " repositories; " + dir + " and others were not looked at")
		return true
	}
	s.gitDirsSeen = append(s.gitDirsSeen, dir)
	return false
}

// gitLooked is what a gitSearch has looked at.
type gitVisited struct {
	gitDirsSeen           []string // git directories
	configs, named, words int
	visitCount
	inModules visitCount // in directories of submodules' git directories
}

// seenOf is how much was looked at.
type visitCount struct{ folders, entries int }

// programs is how much of what settings name was looked at.
type programs struct {
	read         []string
	words, found int
	partial      string // what was not, and why; "" where all was
}

// protectPath protects what path leads to and every link on the way.
// path is counted from the directory dir, which has no link on the way.
func (s *gitSearch) protectPath(dir, path, why string) resolved {
	at := resolveIn(dir, path)
	for _, link := range at.links {
		s.add(link, wrap.Symlink, why)
	}
	s.add(at.path, at.kind, why)
	return at
}

// linksTo is where path leads from dir; the links on the way are protected.
func (s *gitSearch) followLinks(dir, path string) string {
	at := resolveIn(dir, path)
	for _, link := range at.links {
		s.add(link, wrap.Symlink, "git finds its directory through it")
	}
	return at.path
}
