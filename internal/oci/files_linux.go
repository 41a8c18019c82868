package oci

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/view"
	"sbx/spec"
)

// files gives access to a container's files by their paths in the container, from its image and
// its engine's mounts, regardless of what the spec makes visible.
type files struct {
	places []Place
	root   string // the container's root on the host; "" if the calling thread's root is it
}

// over returns the container's mount that contains a path; nil if its root does.
func (f *files) over(path string) *Place {
	for i := len(f.places) - 1; i >= 0; i-- {
		if view.Within(path, f.places[i].Path) {
			return &f.places[i]
		}
	}
	return nil
}

// Lstat implements spec.Paths.
func (f *files) Lstat(path string) (spec.Info, error) {
	if f.root == "" {
		return spec.HostPaths{}.Lstat(path)
	}
	mode, err := f.mode(path)
	if err != nil {
		return spec.Info{}, spec.NoEntry
	}
	return spec.Info{IsDir: mode&unix.S_IFMT == unix.S_IFDIR, IsLink: mode&unix.S_IFMT == unix.S_IFLNK}, nil
}

// Readlink implements spec.Paths.
func (f *files) Readlink(path string) (string, error) {
	if f.root == "" {
		return spec.HostPaths{}.Readlink(path)
	}
	fd, err := f.open(path)
	if err != nil {
		return "", spec.NoEntry
	}
	defer unix.Close(fd)
	text := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", text)
	return string(text[:max(n, 0)]), err
}

// open opens a path that has no symlink except possibly its last component.
func (f *files) open(path string) (fd int, err error) {
	base, rest := f.root, path
	if p := f.over(path); p != nil {
		base, rest = p.Source, path[len(p.Path):]
		if !p.binds() {
			return -1, unix.ENOENT
		}
	}
	dir, err := unix.Open(base, unix.O_PATH|unix.O_CLOEXEC, 0)
	if rest = strings.TrimPrefix(rest, "/"); err != nil || rest == "" {
		return dir, err
	}
	defer unix.Close(dir)
	return unix.Openat2(dir, rest, &unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
}

func (f *files) mode(path string) (uint32, error) {
	if p := f.over(path); p != nil && p.Path == path && !p.binds() {
		return unix.S_IFDIR | 0o755, nil
	}
	fd, err := f.open(path)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	return st.Mode, err
}

// stands reports whether path is a program or, if program is false, whether the directory
// that would contain it exists.
func (f *files) stands(path string, program bool) bool {
	kind := uint32(unix.S_IFREG)
	if !program {
		path, kind = filepath.Dir(path), unix.S_IFDIR
	}
	real, err := spec.Real(path, f)
	if err != nil {
		return false
	}
	mode, err := f.mode(real)
	return err == nil && mode&unix.S_IFMT == kind && mode&0o111 != 0
}
