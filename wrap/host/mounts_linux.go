package host

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/wrap"
)

// mounts reads the host's mounts and finds the removable ones.
func (p *mountTable) mounts() {
	p.entries = mountinfo()
	p.lastAt, p.onDevice = make(map[string]int, len(p.entries)), make(map[string][]int, len(p.entries))
	for i, m := range p.entries {
		p.h.Mounts = append(p.h.Mounts, wrap.MountPoint{Path: m.Path, Type: m.Type})
		p.lastAt[m.Path] = i
		p.onDevice[m.Device] = append(p.onDevice[m.Device], i)
		p.noteMedia(m.Path, m.Device)
	}
}

// mountinfo returns the mounts that this process has in view.
func mountinfo() []read.Mount {
	b, _ := read.Proc("/proc/self/mountinfo", read.MaxMountinfo)
	return read.Mounts(string(b))
}

// noteMedia records a directory that is hidden because of a mount: /media and
// /run/media, where desktops mount removable media, are hidden whole. Of /mnt, which may
// hold anything (/mnt/c of WSL), only removable devices are hidden.
func (p *mountTable) noteMedia(path, dev string) {
	hide := ""
	for _, dir := range [...]string{"/media", "/run/media"} {
		if within(path, dir) {
			hide = dir
		}
	}
	if hide == "" && within(path, "/mnt") && removable(dev) {
		hide = path
	}
	if hide != "" && !anyWithin(hide, p.h.Removable) {
		p.h.Removable = append(p.h.Removable, hide)
	}
}

// removable reports whether a block device is removable: its disk says so, or is connected
// by USB, FireWire or a card reader (USB disks, unlike sticks, call themselves fixed), or it
// is built on such a device (an encrypted stick). dev is major:minor, such as "8:17"; file
// systems without a device have major 0.
func removable(dev string) bool {
	if strings.HasPrefix(dev, "0:") {
		return false
	}
	return removableDevice("/sys/dev/block/"+dev, 3)
}

func removableDevice(path string, depth int) bool {
	real, kind := follow(unix.AT_FDCWD, path)
	if kind != wrap.Dir || depth == 0 {
		return false
	}
	for _, bus := range [...]string{"/usb", "/firewire", "/fw", "/mmc_host/"} {
		if strings.Contains(real, bus) {
			return true
		}
	}
	// The directory of a partition lies in that of its disk.
	if sysctl(real+"/removable") == "1" || sysctl(parent(real)+"/removable") == "1" {
		return true
	}
	fd, _, err := openDir(unix.AT_FDCWD, real+"/slaves")
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	found := false
	var slaves read.Dir
	_ = slaves.Each(fd, func(name []byte, _ byte) bool {
		found = removableDevice(real+"/slaves/"+string(name), depth-1)
		return !found
	})
	return found
}

// mountTable is the host's mounts.
type mountTable struct {
	*prober
	entries []read.Mount // in mountinfo's order
	// lastAt is the index of the last entry at a path, onDevice of all entries of a device.
	lastAt   map[string]int
	onDevice map[string][]int
}

// otherPaths returns the other paths at which path, or something under it, is
// visible.
func (p *mountTable) otherPaths(path string) (list []string) {
	on := p.entryOf(path)
	if on == nil {
		return nil
	}
	inside := inFileSystem(on, path)
	for _, i := range p.onDevice[on.Device] {
		s := &p.entries[i]
		at, was := "", path
		switch {
		case s == on:
			continue
		case within(inside, s.Root):
			at = join(s.Path, relative(inside, s.Root))
		case within(s.Root, inside):
			at, was = s.Path, join(path, relative(s.Root, inside))
			if within(p.r.Home, at) || within(p.r.WorkingDir.Real, at) {
				continue // the caller works in at, so it is never hidden
			}
		}
		if at != "" && at != path && !within(at, path) && sameFile(at, was) {
			list = append(list, at)
		}
	}
	return list
}

// otherPathsOf returns the other paths at which a directory itself is visible.
func (p *mountTable) otherPathsOf(path string) []string {
	return slices.DeleteFunc(p.otherPaths(path), func(at string) bool { return !sameFile(at, path) })
}

// entryOf returns the mount on which path lies.
func (p *mountTable) entryOf(path string) *read.Mount {
	for ; ; path = parent(path) {
		if i, ok := p.lastAt[path]; ok {
			return &p.entries[i]
		}
		if path == "/" {
			return nil
		}
	}
}

// inFileSystem returns the path within the file system of m of the file visible at path.
func inFileSystem(m *read.Mount, path string) string { return join(m.Root, relative(path, m.Path)) }

// sameFile reports whether two paths are the same file. They are not if another mount covers
// one of them.
func sameFile(a, b string) bool {
	var x, y unix.Stat_t
	const flags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	return unix.Fstatat(unix.AT_FDCWD, a, &x, flags) == nil && unix.Fstatat(unix.AT_FDCWD, b, &y, flags) == nil &&
		x.Dev == y.Dev && x.Ino == y.Ino
}
