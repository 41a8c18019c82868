package host

import (
	"slices"

	"sbx/wrap"
)

// gitSearch finds repositories and the files that git runs because of them.
type gitSearch struct {
	protection
	p             *secretSearch
	home          string
	userNamed     []named  // paths in the user's and the system's configuration
	submoduleDirs []string // directories with git directories of submodules, still to be searched
	searchCut     string
	gitFound
	gitVisited
}

// gitFound is the result of a gitSearch.
type gitFound struct {
	repos        []wrap.Repository
	bare         []string // directories that are bare repositories or look like one
	gitDirs      []string // git directories
	around       []string // top directories of repositories that contain a writable tree
	worktreeDirs []string // git directories of linked worktrees
	leftNames    []string // names in a modules directory that are reported and not protected
	programs     programs
}

// Limits of the search for repositories in one launch. A directory costs 3 to 5 us, so the
// worst workspace delays a start by about 10 ms.
const (
	maxDirs    = 2000
	maxEntries = 50000
	maxDepth   = 32
)

// maxRepositories bounds the number of git directories in one search.
const maxRepositories = 256

// noteCut records why something was not searched; the first reason is kept.
func (s *gitSearch) noteCut(why string) {
	if s.searchCut == "" {
		s.searchCut = why
	}
}

// isOutside reports whether a git directory lies in a common directory that is writable only
// because a linked worktree needs it.
func (s *gitSearch) isOutside(dir string) bool {
	for i := range s.repos {
		if s.repos[i].Outside && within(dir, s.repos[i].Common) {
			return true
		}
	}
	return false
}

// isSeen reports whether a git directory was visited before, and records this visit.
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

// gitVisited counts what a gitSearch has visited.
type gitVisited struct {
	gitDirsSeen           []string // git directories
	configs, named, words int
	visitCount
	inModules visitCount // in the modules directories of repositories
}

// visitCount is a number of directories and of names in them.
type visitCount struct{ dirs, entries int }

// programs counts the programs that settings files name.
type programs struct {
	read         []string
	words, found int
	partial      string // why some were not protected; "" if all were
}

// protectPath protects the path that path resolves to, and every symlink on the way. A
// relative path counts from the directory dir, whose path contains no symlink.
func (s *gitSearch) protectPath(dir, path, why string) resolved {
	at := resolveIn(dir, path)
	for _, link := range at.links {
		s.add(link, wrap.Symlink, why)
	}
	s.add(at.path, at.kind, why)
	return at
}

// followLinks resolves path from dir and protects the symlinks on the way.
func (s *gitSearch) followLinks(dir, path string) string {
	at := resolveIn(dir, path)
	for _, link := range at.links {
		s.add(link, wrap.Symlink, "git finds its directory through it")
	}
	return at.path
}
