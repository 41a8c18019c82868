package wrap

import (
	"slices"
	"strings"

	"sbx/seccomp"
	"sbx/spec"
	"sbx/wrap/defaults"
)

// gitFolders are the git directories of the writable trees, sorted. A linked
// worktree's common directory is a tree of its own: no part of a path under it
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
	return best != "" && inTrees(best, trees) && defaults.IsProtectedInGit(path[len(best)+1:])
}

// OpensGit reports whether the spec writes a git directory by name, or something in one:
// the document opens it, with all that is in it.
func OpensGit(w *spec.Path) bool {
	return w.InWrite() && strings.Contains(w.Real+"/", "/.git/")
}

// Worktree is a linked worktree of git all of whose protected names lie in the
// writable trees. It can be removed inside, names and mounts and all: git does so
// by unlink(2), which the kernel refuses to what is mounted on, and the supervisor
// does in its place.
type Worktree struct {
	// Admin is its directory, in worktrees of the common one.
	Admin string
	// Dots are the .git files that lead there, and the one that Admin names,
	// whether it is there or not. Nothing of Admin is removed as long as one is.
	Dots []string
}

// AdminNames are the protected names of a linked worktree's own directory.
// Commondir is the last to go: as long as it is there git takes no
// configuration from the directory.
func AdminNames() [3]string { return [3]string{"gitdir", "config.worktree", Commondir} }

// Commondir is the file by which a git directory is a linked worktree's.
const Commondir = "commondir"

// worktrees lists those that can be removed inside. Where nobody is told of
// unlink(2) there are none.
func (b *guards) worktrees() {
	if b.plan.Notify < seccomp.NotifyRefused {
		return
	}
	for _, w := range b.h.Worktrees {
		ours := b.inTrees(w.Admin)
		for _, dot := range w.Dots {
			ours = ours && b.inTrees(dot)
		}
		if ours {
			b.plan.Watch.Worktrees = append(b.plan.Watch.Worktrees, w)
		}
	}
}
