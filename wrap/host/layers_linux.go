package host

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/spec"
	"sbx/wrap"
)

// maxLayers bounds the number of directories with a private copy. layerDepth is how deep
// under the root they are searched for, except on the way to the home.
const (
	maxLayers  = 256
	layerDepth = 3
)

// copyLayers finds the directories over which a private copy can lie. From the root down it
// takes the nearest ones that the caller may write: overlayfs copies no file whose owner
// the user namespace does not have. Root's namespace has all ids, so root needs no write
// permission. An overlay hides the mounts under it, and a user namespace may not hide them:
// if something is mounted under a directory, each subdirectory has its own copy, and the
// files directly in the directory have none.
func (p *prober) copyLayers() {
	if p.r.Learn {
		p.addLayersIn("/", layerDepth)
	}
}

func (p *prober) addLayersIn(dir string, depth int) {
	fd, readable, err := openDir(unix.AT_FDCWD, dir)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if !readable { // only the way to the home is known
		if rest, ok := strings.CutPrefix(p.h.Home, dir+"/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			p.addLayer(join(dir, name), depth)
		}
		return
	}
	var names []string
	_ = p.dirs.Each(fd, func(name []byte, dtype byte) bool {
		if dtype == unix.DT_DIR || dtype == unix.DT_UNKNOWN {
			names = append(names, string(name))
		}
		return true
	})
	slices.Sort(names)
	for _, name := range names {
		p.addLayer(join(dir, name), depth)
	}
}

// addLayer adds one directory, or continues with its subdirectories.
func (p *prober) addLayer(dir string, depth int) {
	var st unix.Stat_t
	switch {
	case len(p.h.Layers) == maxLayers, slices.Contains(neverLayered, dir), dir == p.h.HomeReal:
		return
	case unix.Lstat(dir, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR || !hasAccess(dir, unix.X_OK):
		return
	}
	writable := hasAccess(dir, unix.W_OK)
	own := writable || p.mapsID(p.h.UIDs, p.h.UID, st.Uid) && p.mapsID(p.h.GIDs, p.h.GID, st.Gid)
	for i := range p.h.Mounts {
		if at := p.h.Mounts[i].Path; own && beneath(at, dir) {
			if writable {
				p.h.Layers = append(p.h.Layers, wrap.Layer{Dir: dir, Why: "the directories in it apart: " + at + " is mounted there"})
			}
			own = false
		}
	}
	switch home := beneath(p.h.HomeReal, dir); { // a home of the agent has a copy of its own
	case own && !home:
		p.h.Layers = append(p.h.Layers, wrap.Layer{Dir: dir, Mode: st.Mode & 0o7777})
	case home || depth > 1 || beneath(p.h.Home, dir):
		p.addLayersIn(dir, depth-1)
	}
}

// mapsID reports whether a sandbox's user namespace has an id: root's has all of ranges, any
// other only the caller's own.
func (p *prober) mapsID(ranges []wrap.IDRange, own int, id uint32) bool {
	if p.h.UID != 0 {
		return int(id) == own
	}
	return slices.ContainsFunc(ranges, func(r wrap.IDRange) bool { return id >= r.First && id-r.First < r.Count })
}

// neverLayered are directories that a sandbox replaces by its own, and the kernel's.
var neverLayered = []string{"/dev", "/lost+found", "/proc", "/run", "/sys", "/tmp", "/var/tmp"}

// hasAccess reports whether the caller has a permission for a path.
func hasAccess(path string, mode uint32) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, mode, unix.AT_EACCESS) == nil
}

// homeLayer records an agent's home, and the files directly in it that the agent reads.
func (p *prober) homeLayer() {
	if !p.r.HomeLayer {
		return
	}
	at := resolve(p.r.Home)
	var st unix.Stat_t
	if at.kind != wrap.Dir || unix.Lstat(at.path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return
	}
	p.h.HomeReal, p.h.HomeMode = at.path, st.Mode&0o777
	for i := range p.r.Own {
		if o := &p.r.Own[i]; o.Mode == spec.OwnRead && o.Exists && !o.IsDir {
			p.kindOf(o.Real)
		}
	}
}
