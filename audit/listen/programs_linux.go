package listen

import (
	"bytes"

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
	fd, e := openat2(root, path, false, inRoot)
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
