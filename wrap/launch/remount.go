package launch

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// mountInfo is a mount of a mount namespace.
type mountInfo struct {
	id, parent int
	path       string // as seen from the root of the process whose mountinfo was read
	flags      uintptr
}

// mountOptions are the words for a mount's flags in mountinfo. Those about access times are
// not changed and left out.
var mountOptions = map[string]uintptr{"ro": unix.MS_RDONLY, "nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV,
	"noexec": unix.MS_NOEXEC, "nosymfollow": unix.MS_NOSYMFOLLOW}

// parseMountinfo parses a mountinfo file, proc_pid_mountinfo(5).
func parseMountinfo(text string) []mountInfo {
	var all []mountInfo
	for line := range strings.Lines(text) {
		f := strings.SplitN(line, " ", 7)
		if len(f) < 7 {
			continue
		}
		id, err := strconv.Atoi(f[0])
		parent, err2 := strconv.Atoi(f[1])
		if err != nil || err2 != nil {
			continue
		}
		m := mountInfo{id: id, parent: parent, path: read.Unescape(f[4])}
		for word := range strings.SplitSeq(f[5], ",") {
			m.flags |= mountOptions[word]
		}
		all = append(all, m)
	}
	return all
}

// mountsLacking returns, deepest first, the mounts of the tree at top that lack a flag in
// set; only top itself without beneath. found reports whether top exists.
//
// A mount that another mount covers at its very root is left out, together with the mounts
// in the rest of it: a path that leads there continues in the covering mount, whatever
// directories are moved. A mount in a directory that is covered is included: it becomes
// reachable if it, or a directory on the way to it, is moved.
func mountsLacking(all []mountInfo, top int, set uintptr, beneath bool) (list []mountInfo, found bool) {
	byID, on := make(map[int]int, len(all)), make(map[int][]int, len(all))
	for i := range all {
		byID[all[i].id] = i
	}
	for i := range all {
		if all[i].parent != all[i].id {
			on[all[i].parent] = append(on[all[i].parent], i)
		}
	}
	first, found := byID[top]
	if !found {
		return nil, false
	}
	tree := []int{first} // a mount precedes the mounts on it
	for k := 0; k < len(tree); k++ {
		m := &all[tree[k]]
		next := on[m.id]
		over := -1
		for _, i := range next {
			if m.id != top && all[i].path == m.path { // paths start in top's root directory rather than lead into it
				over = i
			}
		}
		if over < 0 && m.flags&set != set {
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
