package launch

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// standing is a mount of a namespace.
type mountInfo struct {
	id, parent int
	path       string // seen from the root of the process that was asked about
	flags      uintptr
}

// mountOptions are the words by which mountinfo tells a mount's flags; those of
// times of access are left to themselves.
var mountOptions = map[string]uintptr{"ro": unix.MS_RDONLY, "nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV,
	"noexec": unix.MS_NOEXEC, "nosymfollow": unix.MS_NOSYMFOLLOW}

// standingOf reads a mountinfo, proc_pid_mountinfo(5).
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

// lacking lists, deepest first, the mounts of the tree at top that lack one of
// the flags in set; top alone without under. found is whether top is there.
//
// A mount with another on its very root is left out, and with it what hangs on
// the rest of it: whoever comes there goes on to the other, whatever directories are
// moved. One that lies in a directory that is mounted over is not left out: it can
// be come to again where it, or a directory on the way to it, is moved.
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
	tree := []int{first} // a mount before those on it
	for k := 0; k < len(tree); k++ {
		m := &all[tree[k]]
		next := on[m.id]
		over := -1
		for _, i := range next {
			if m.id != top && all[i].path == m.path { // a root directory is walked from, not into
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
