package audit

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
)

// The bounds of Artifacts: what a hostile output directory may cost.
const (
	maxArtifacts      = 1000
	maxArtifactDepth  = 64
	maxArtifactNames  = 100_000
	maxArtifactHashed = 16 << 30 // bytes read in all
	maxArtifactHoles  = 1 << 30  // of these, bytes that take no room: a hole costs its maker nothing
)

// Artifacts lists the regular files of an output directory in the order of their
// paths, and says how many it left out: files beyond the bound, and directories
// that it could not or would not look into, one for each. Links are neither
// listed nor followed, devices, FIFOs and sockets not opened, other mounts not
// entered. A file too large for what is read in all, or all holes, has no digest.
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
	names   int   // that may still be read
	budget  int64 // bytes that may still be hashed
	holes   int64 // and bytes of holes among them
	buf     []byte
	block   []byte
}

// walk goes through an open directory in the order of its names.
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

// holes is how much of a file takes no room.
func holes(st *unix.Stat_t) int64 { return max(st.Size-st.Blocks*512, 0) }
