package launch

import (
	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// seat is where a part of a file system is mounted: what lies at root there is
// seen at path.
type seat struct{ dev, root, path string }

// maxAgain bounds the further names of what is hidden.
const maxAgain = 64

// again hides what is hidden wherever another mount of the host shows it once
// more: the disk that homes are bound from, the top of a file system beside its
// subvolumes, a folder of a home that is bound to another place.
func (p *prober) again() {
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
	for _, f := range found {
		if f.Target != "" || f.Kind != wrap.Dir && f.Kind != wrap.File && f.Kind != wrap.Socket {
			continue
		}
		for _, path := range p.elsewhere(f.Path) {
			if left--; left < 0 {
				p.h.SecretsCut = "more than " + itoa(maxAgain) + " are seen by a second mount: the others were left"
				return
			}
			p.hide(wrap.Found{Path: path, Real: path, Kind: kindAt(path), Why: f.Why + " (" + f.Path + ", seen once more)"})
		}
	}
}

// elsewhere lists the other paths at which path, or something beneath it, is seen.
func (p *prober) elsewhere(path string) (list []string) {
	var on *seat
	for i := range p.seats {
		if s := &p.seats[i]; within(path, s.path) && (on == nil || len(s.path) >= len(on.path)) {
			on = s
		}
	}
	if on == nil {
		return nil
	}
	inside := put(on.root, behind(path, on.path))
	for i := range p.seats {
		s := &p.seats[i]
		at, was := "", path
		switch {
		case s == on || s.dev != on.dev:
			continue
		case within(inside, s.root):
			at = put(s.path, behind(inside, s.root))
		case within(s.root, inside):
			at, was = s.path, put(path, behind(s.root, inside))
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

// behind is what of path comes after the folder that it lies in, "" for the
// folder itself; put adds it to another folder.
func behind(path, folder string) string {
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
