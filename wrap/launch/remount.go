package launch

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// mountOptions are the words for a mount's flags in mountinfo. Those about access times are
// not changed and left out.
var mountOptions = map[string]uintptr{"ro": unix.MS_RDONLY, "nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV,
	"noexec": unix.MS_NOEXEC, "nosymfollow": unix.MS_NOSYMFOLLOW}

// flagsOf returns the flags of a mount that a remount must name to keep them.
func flagsOf(m *read.Mount) (flags uintptr) {
	for word := range strings.SplitSeq(m.Options, ",") {
		flags |= mountOptions[word]
	}
	return flags
}

// mountsLacking returns, deepest first, the mounts of the tree at top that lack a flag in
// set; only top itself without beneath. found reports whether top exists.
//
// A mount that another mount covers at its very root is left out, together with the mounts
// in the rest of it: a path that leads there continues in the covering mount, whatever
// directories are moved. A mount in a directory that is covered is included: it becomes
// reachable if it, or a directory on the way to it, is moved.
func mountsLacking(all []read.Mount, top int, set uintptr, beneath bool) (list []read.Mount, found bool) {
	byID, on := make(map[int]int, len(all)), make(map[int][]int, len(all))
	for i := range all {
		byID[all[i].ID] = i
	}
	for i := range all {
		if all[i].Parent != all[i].ID {
			on[all[i].Parent] = append(on[all[i].Parent], i)
		}
	}
	first, found := byID[top]
	if !found {
		return nil, false
	}
	tree := []int{first} // a mount precedes the mounts on it
	for k := 0; k < len(tree); k++ {
		m := &all[tree[k]]
		next := on[m.ID]
		over := -1
		for _, i := range next {
			if m.ID != top && all[i].Path == m.Path { // paths start in top's root directory rather than lead into it
				over = i
			}
		}
		if over < 0 && flagsOf(m)&set != set {
			list = append(list, *m)
		}
		if over >= 0 {
			next = []int{over}
		}
		if beneath {
			tree = append(tree, next...)
		}
	}
	slices.Reverse(list)
	return list, true
}
