package listen

import (
	"bytes"
	"slices"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// Programs is wrap.Programs with its paths resolved to device and inode numbers, so that
// it matches a file under any name.
type Programs struct {
	root                            int
	limited                         bool
	masks                           []string // the paths of denied programs
	files, folders, loaders, denied map[node]bool
}

// node is a file, or a directory.
type node struct{ dev, ino uint64 }

// Learn resolves a plan's program rules in the sandbox, before its command starts; root
// is Config.Root. It returns nil for a plan without such rules.
func Learn(root int, p *wrap.Programs) *Programs {
	if !p.Any() {
		return nil
	}
	r := &Programs{root: root, limited: p.Limited, masks: p.Denied}
	set := func(paths []string) map[node]bool {
		m := make(map[node]bool, len(paths))
		for _, p := range paths {
			if id, ok := r.nodeOf(append([]byte(p), 0)); ok {
				m[id] = true
			}
		}
		return m
	}
	r.files, r.folders, r.loaders, r.denied = set(p.Files), set(p.Folders), set(p.Loaders), set(p.Denied)
	return r
}

// nodeOf resolves an absolute path in the sandbox.
func (r *Programs) nodeOf(path []byte) (node, bool) {
	root := r.root
	if root < 0 {
		own, e := openPath([]byte("/\x00"))
		if e != 0 {
			return node{}, false
		}
		defer unix.Close(own)
		root = own
	}
	fd, e := openat2(root, path, false, beneath)
	if e != 0 {
		return node{}, false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return node{}, false
	}
	return node{st.Dev, st.Ino}, true
}

// forbids reports whether a rule denies an otherwise executable file. The kernel would
// deny it too, except a loader: only this check denies that.
func (c *checker) forbids(x *attempt, fd int, st *unix.Stat_t, depth int) bool {
	r, id := c.programs, node{st.Dev, st.Ino}
	switch {
	case r == nil:
		return false
	case r.loaders[id]:
		c.blame(x, ByLoader, fd, depth)
	case !r.limited || r.files[id] || !r.outside(fd, id):
		return false
	case r.denied[id]:
		c.blame(x, ByDeny, fd, depth)
	default:
		c.blame(x, ByAllow, fd, depth)
	}
	return true
}

// masked blames commands.deny if the file is the mask over a denied program. All masks
// are the same inode, so the path decides.
func (c *checker) masked(x *attempt, fd int, st *unix.Stat_t, depth int) {
	if r := c.programs; r != nil && r.denied[node{st.Dev, st.Ino}] && slices.Contains(r.masks, c.nameOf(fd)) {
		c.blame(x, ByDeny, fd, depth)
	}
}

// blame records why an exec is denied, with the called program as target or, at
// depth > 0, the interpreter that it needs.
func (c *checker) blame(x *attempt, why Cause, fd, depth int) {
	x.forbidden, x.cause, x.target = true, why, x.name
	if depth > 0 || x.target == "" || x.target[0] != '/' {
		x.target = c.nameOf(fd)
	}
}

// outside reports whether a file is certainly in no allowed directory: its path still
// leads to it, and none of the directories above it is allowed.
func (r *Programs) outside(fd int, id node) bool {
	var buf [pathMax + 1]byte
	n := readlink(ownFD(fd), buf[:pathMax])
	if n <= 0 || buf[0] != '/' || n == pathMax {
		return false
	}
	path := buf[: n+1 : n+1]
	path[n] = 0
	if here, ok := r.nodeOf(path); !ok || here != id {
		return false // removed or without a path: charged, and the kernel decides
	}
	if len(r.folders) == 0 {
		return true
	}
	for n = bytes.LastIndexByte(path[:n], '/'); n >= 0; n = bytes.LastIndexByte(path[:n], '/') {
		end := max(n, 1)
		path[end] = 0
		if above, ok := r.nodeOf(path[:end+1]); !ok || r.folders[above] {
			return false
		}
	}
	return true
}
