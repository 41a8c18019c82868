package host

import (
	"slices"

	"golang.org/x/sys/unix"

	"sbx/spec"
	"sbx/wrap"
)

// seat is where a part of a file system is mounted: what lies at root there is
// seen at path. options are the file system's own, as mountinfo has them, of an
// overlay alone.
type seat struct{ dev, root, path, options string }

// mountTable is where file systems are mounted.
type mountTable struct {
	*prober
	seats []seat // in the order of mountinfo
	// seatAt is the last of them at a path, and seatsOf all of a device.
	seatAt  map[string]int
	seatsOf map[string][]int
}

// secretSearch finds what is hidden by default.
type secretSearch struct {
	*mountTable
	unseen  []wrap.Found // what is out of view where it stands
	seen    []home       // the homes that were looked at
	agent   spec.Agent   // whose own secrets stay in view where they are looked for
	crowded []string     // directories in which many homes are hidden whole
}

// maxAgain bounds the further names of what is hidden.
const maxAgain = 64

// again hides what is hidden wherever another mount of the host shows it once
// more: the disk that homes are bound from, the top of a file system beside its
// subvolumes, a directory of a home that is bound to another place, an overlay of one.
func (p *secretSearch) again() {
	if len(p.seats) == 0 {
		return
	}
	found := append(p.h.Secrets[:len(p.h.Secrets):len(p.h.Secrets)], p.unseen...)
	for i := range p.r.Hide {
		if h := &p.r.Hide[i]; h.Exists {
			found = append(found, wrap.Found{Path: h.Real, Real: h.Real, Kind: kindAt(h.Real), Why: "filesystem.hide"})
		}
	}
	left := maxAgain
	overlays := p.overlays()
	for i := 0; i < len(found); i++ {
		f := found[i]
		if f.Target != "" || f.Kind != wrap.Dir && f.Kind != wrap.File && f.Kind != wrap.Socket {
			continue
		}
		for _, path := range append(p.elsewhere(f.Path), p.layered(f.Path, overlays)...) {
			if slices.ContainsFunc(found, func(o wrap.Found) bool { return o.Path == path }) {
				continue
			}
			if !f.Home {
				left--
			}
			if left < 0 {
				p.h.SecretsCut = "more than " + itoa(maxAgain) + " are seen by a second mount: the others were left"
				return
			}
			shown := wrap.Found{Path: path, Real: path, Kind: kindAt(path), Why: f.Why + " (" + f.Path + ", seen once more)", Home: f.Home}
			p.hide(shown)
			shown.Why = f.Why
			found = append(found, shown)
		}
	}
}

// elsewhere lists the other paths at which path, or something beneath it, is seen.
func (p *mountTable) elsewhere(path string) (list []string) {
	on := p.seatOf(path)
	if on == nil {
		return nil
	}
	inside := on.inside(path)
	for _, i := range p.seatsOf[on.dev] {
		s := &p.seats[i]
		at, was := "", path
		switch {
		case s == on:
			continue
		case within(inside, s.root):
			at = put(s.path, remainder(inside, s.root))
		case within(s.root, inside):
			at, was = s.path, put(path, remainder(s.root, inside))
			if within(p.r.Home, at) || within(p.r.WorkingDir.Real, at) {
				continue // that is what the caller works in, wherever it comes from
			}
		}
		if at != "" && at != path && !within(at, path) && sameFile(at, was) {
			list = append(list, at)
		}
	}
	return list
}

// sameElsewhere lists the other paths at which a directory itself is seen.
func (p *mountTable) sameElsewhere(path string) []string {
	return slices.DeleteFunc(p.elsewhere(path), func(at string) bool { return !sameFile(at, path) })
}

// seatOf is the mount that path lies on.
func (p *mountTable) seatOf(path string) *seat {
	for ; ; path = parent(path) {
		if i, ok := p.seatAt[path]; ok {
			return &p.seats[i]
		}
		if path == "/" {
			return nil
		}
	}
}

// inside is the path in the file system of what is seen at path.
func (s *seat) inside(path string) string { return put(s.root, remainder(path, s.path)) }

// remainder is what of path comes after the directory that it lies in, "" for the
// directory itself; put adds it to another directory.
func remainder(path, folder string) string {
	if folder == "/" {
		folder = ""
	}
	if len(path) <= len(folder)+1 {
		return ""
	}
	return path[len(folder)+1:]
}

func put(folder, rest string) string {
	if rest == "" {
		return folder
	}
	return join(folder, rest)
}

// sameFile tells whether two names are one file: another mount may lie over one.
func sameFile(a, b string) bool {
	var x, y unix.Stat_t
	const flags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	return unix.Fstatat(unix.AT_FDCWD, a, &x, flags) == nil && unix.Fstatat(unix.AT_FDCWD, b, &y, flags) == nil &&
		x.Dev == y.Dev && x.Ino == y.Ino
}
