package wrap

import "sbx/seccomp"

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
