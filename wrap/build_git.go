package wrap

import (
	"slices"
	"strings"

	"sbx/seccomp"
	"sbx/spec"
	"sbx/wrap/defaults"
)

// gitDirs returns the git directories of the writable trees, sorted. A linked worktree's common
// directory is listed by itself, because no part of a path in it need be called .git.
func (b *guards) gitDirs() []string {
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
	all := slices.Clone(h.GitDirs)
	for i := range h.Repositories {
		all = append(all, h.Repositories[i].GitDir, h.Repositories[i].Common)
	}
	return all
}

func (b *guards) inTrees(path string) bool { return inTrees(path, b.trees()) }

func inTrees(path string, trees []string) bool {
	return slices.ContainsFunc(trees, func(t string) bool { return under(path, t) })
}

// isProtectedInGit reports whether path is a protected name of a git directory. The innermost known
// git directory decides.
func (b *guards) isProtectedInGit(path string, trees []string) bool {
	best := ""
	for _, g := range b.h.allGit() {
		if strings.HasPrefix(path, g+"/") && len(g) > len(best) {
			best = g
		}
	}
	return best != "" && inTrees(best, trees) && defaults.IsProtectedInGit(path[len(best)+1:])
}

// OpensGit reports whether the spec names a git directory, or something in one, as writable. Then
// the command may write all of that path, protected names included.
func OpensGit(w *spec.Path) bool {
	return w.InWrite() && strings.Contains(w.Real+"/", "/.git/")
}

// Worktree is a linked worktree of git whose protected names all lie in the writable trees. The
// command can remove such a worktree, protected names included: git removes them by unlink(2),
// which the kernel refuses for a name with a mount on it, so the supervisor removes them instead.
type Worktree struct {
	// Admin is the worktree's directory under worktrees/ of the common git directory.
	Admin string
	// Dots are the .git files that lead to Admin, and the one that Admin names, whether it exists
	// or not. The supervisor removes nothing of Admin while one of them exists.
	Dots []string
}

// AdminNames returns the protected names in a linked worktree's own directory. Commondir must be
// removed last: while it exists, git reads no configuration from the directory.
func AdminNames() [3]string { return [3]string{"gitdir", "config.worktree", Commondir} }

// Commondir is the file that makes a git directory one of a linked worktree.
const Commondir = "commondir"

// worktrees lists the worktrees that the command can remove. There are none if the supervisor is
// not notified of unlink(2).
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
