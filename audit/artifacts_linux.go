package audit

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
)

// These bound the cost of a hostile output directory.
const (
	maxArtifacts      = 1000
	maxArtifactDepth  = 64
	maxArtifactNames  = 100_000
	maxArtifactHashed = 16 << 30 // bytes read, of all files
	maxArtifactHoles  = 1 << 30  // bytes read of holes, which cost the command nothing to make
)

// Artifacts lists the regular files of an output directory, sorted by path. omitted counts the
// files beyond the bounds, and one for each directory that Artifacts could not read or would not
// enter. It does not list or follow links, open devices, FIFOs or sockets, or enter other mounts. A
// file that is too large, or that consists of too many holes, has no digest.
func Artifacts(dirfd int) (list []Artifact, omitted int, err error) {
	top, err := dirs.OpenBeneath(dirfd, "", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, 0, err
	}
	defer dirs.Close(top)
	g := gatherer{names: maxArtifactNames, budget: maxArtifactHashed, holes: maxArtifactHoles,
		buf: make([]byte, 32<<10), block: make([]byte, 128<<10)}
	g.walk(top, "", 0)
	slices.SortFunc(g.list, func(a, b Artifact) int { return strings.Compare(a.Path, b.Path) })
	return g.list, g.omitted, nil
}

type gatherer struct {
	list    []Artifact
	omitted int
	names   int   // how many names may still be read
	budget  int64 // how many bytes may still be hashed
	holes   int64 // how many of these may be holes
	buf     []byte
	block   []byte
}

// walk lists an open directory, sorted by name.
func (g *gatherer) walk(fd int, rel string, depth int) {
	f := dirs.Reader{FD: fd, Buf: g.buf}
	var names []string
	for e, ok := f.Next(); ok; e, ok = f.Next() {
		if g.names--; g.names < 0 {
			g.omitted++
			break
		}
		names = append(names, string(e.Name))
	}
	if f.Err != nil {
		g.omitted++
	}
	slices.Sort(names)
	for _, name := range names {
		var st unix.Stat_t
		if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			continue
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			g.file(fd, name, dirs.Join(rel, name), &st)
		case unix.S_IFDIR:
			g.enter(fd, name, dirs.Join(rel, name), depth)
		}
	}
}

func (g *gatherer) enter(fd int, name, rel string, depth int) {
	if depth == maxArtifactDepth {
		g.omitted++
		return
	}
	sub, err := dirs.OpenBeneath(fd, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		g.omitted++
		return
	}
	g.walk(sub, rel, depth+1)
	dirs.Close(sub)
}

func (g *gatherer) file(fd int, name, rel string, st *unix.Stat_t) {
	if len(g.list) == maxArtifacts {
		g.omitted++
		return
	}
	a := Artifact{Path: rel, Size: st.Size, Mode: st.Mode & 0o7777}
	f, err := dirs.Open(fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err == nil {
		var now unix.Stat_t
		if unix.Fstat(f, &now) == nil && now.Mode&unix.S_IFMT == unix.S_IFREG && now.Size <= g.budget && holes(&now) <= g.holes {
			g.budget -= now.Size
			g.holes -= holes(&now)
			a.Size, a.Mode = now.Size, now.Mode&0o7777
			a.SHA256 = dirs.Digest(f, now.Size, g.block)
		}
		dirs.Close(f)
	}
	g.list = append(g.list, a)
}

// holes returns how many bytes of a file take no space on the disk.
func holes(st *unix.Stat_t) int64 { return max(st.Size-st.Blocks*512, 0) }
