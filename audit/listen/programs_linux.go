package listen

import (
	"bytes"
	"slices"

	"sbx/wrap"
)

// Programs is wrap.Programs with its paths resolved to device and inode numbers, so that
// it matches a file under any name.
type Programs struct {
	root                         int
	limited                      bool
	masks                        []string // the paths of denied programs
	places                       []string // the paths of allowed directories
	files, dirs, loaders, denied map[node]bool
}

// Learn resolves a plan's program rules in the sandbox, before its command starts; root
// is Config.Root. It returns nil for a plan without such rules.
func Learn(root int, p *wrap.Programs) *Programs {
	if !p.Any() {
		return nil
	}
	r := &Programs{root: root, limited: p.Limited, masks: p.Denied}
	set := func(paths []string) (m map[node]bool, found []string) {
		m = make(map[node]bool, len(paths))
		for _, p := range paths {
			if at, e := placeIn(r.root, append([]byte(p), 0)); e == 0 {
				m[at.node] = true
				found = append(found, p)
			}
		}
		return m, found
	}
	r.files, _ = set(p.Files)
	r.dirs, r.places = set(p.Dirs)
	r.loaders, _ = set(p.Loaders)
	r.denied, _ = set(p.Denied)
	return r
}

// outside reports whether a file is certainly in no allowed directory: its path still leads
// to it, or it was removed from there, and none of the directories above it is allowed.
func (r *Programs) outside(fd int) bool {
	var buf [pathMax + 1]byte
	n := readlink(ownFD(fd), buf[:pathMax])
	file, e := placeOfFD(fd)
	if n <= 0 || buf[0] != '/' || n == pathMax || e != 0 {
		return false
	}
	path := buf[: n+1 : n+1]
	path[n] = 0
	here, e := placeIn(r.root, path)
	gone := e != 0 || here.node != file.node
	if gone && !(bytes.HasSuffix(path[:n], []byte(removed)) && r.inPlace()) {
		return false // without a path: charged, and the kernel decides
	}
	if !gone && len(r.dirs) == 0 {
		return true
	}
	for n = bytes.LastIndexByte(path[:n], '/'); n >= 0; n = bytes.LastIndexByte(path[:n], '/') {
		end := max(n, 1)
		path[end] = 0
		above, e := placeIn(r.root, path[:end+1])
		switch {
		case gone && e != 0: // removed as well
		case e != 0 || r.dirs[above.node] || gone && above.mount != file.mount:
			return false // the mount of a file in memory (memfd_create) is nowhere in view
		default:
			gone = false
		}
	}
	return !gone
}

// inPlace reports whether each allowed directory is still at its path. If one was removed, a
// removed file may belong to it.
func (r *Programs) inPlace() bool {
	return !slices.ContainsFunc(r.places, func(path string) bool {
		here, e := placeIn(r.root, append([]byte(path), 0))
		return e != 0 || !r.dirs[here.node]
	})
}
