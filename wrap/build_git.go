package wrap

import (
	"slices"
	"strings"

	"sbx/spec"
	"sbx/wrap/defaults"
)

// gitFolders are the git directories of the writable trees, sorted. A linked
// worktree's common directory is a tree of its own: no part of a path beneath it
// is called .git.
func (b *guards) gitFolders() []string {
	var list []string
	for _, g := range b.h.allGit() {
		if b.inTrees(g) {
			list = append(list, g)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (h *Host) allGit() []string {
	all := slices.Clone(h.GitFolders)
	for i := range h.Repositories {
		all = append(all, h.Repositories[i].GitDir, h.Repositories[i].Common)
	}
	return all
}

func (b *guards) inTrees(path string) bool { return inTrees(path, b.trees()) }

func inTrees(path string, trees []string) bool {
	return slices.ContainsFunc(trees, func(t string) bool { return under(path, t) })
}

// isProtectedInGit is isProtected for a path of a git directory: the innermost
// that is known counts.
func (b *guards) isProtectedInGit(path string, trees []string) bool {
	best := ""
	for _, g := range b.h.allGit() {
		if strings.HasPrefix(path, g+"/") && len(g) > len(best) {
			best = g
		}
	}
	if best == "" || !inTrees(best, trees) {
		return false
	}
	_, ok := defaults.IsProtectedInGit(path[len(best)+1:])
	return ok
}

// OpensGit tells whether the spec writes a git directory by name, or something in one:
// the document opens it, with all that is in it.
func OpensGit(w *spec.Path) bool {
	return w.InWrite() && strings.Contains(w.Real+"/", "/.git/")
}
