package guard

import (
	"strings"

	"golang.org/x/sys/unix"
	"sbx/internal/dirs"
	"sbx/wrap"
)

// The bounds of the digests of protected files.
const (
	maxDigests    = 64
	maxDigestSize = 256 << 10
)

// digests takes the digests of the protected regular files.
func (x *Watch) digests(w wrap.Watch) {
	left := maxDigests
	for i := range w.Protected {
		p := &w.Protected[i]
		at := x.at[p.Path]
		if p.Kind != wrap.File || p.Link || at == 0 {
			continue
		}
		if left--; left < 0 {
			return
		}
		x.files[at-1].before = digestPath(p.Path)
	}
}

// digestPath returns the SHA-256 in hex of a regular file of a bounded size, or "" if there
// is none at path. It follows no symbolic link.
func digestPath(path string) string {
	i := strings.LastIndexByte(path, '/')
	dir, err := dirs.OpenRealDir(path[:max(i, 1)])
	if err != nil {
		return ""
	}
	defer dirs.Close(dir)
	fd, err := dirs.Open(dir, path[i+1:], unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return ""
	}
	defer dirs.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size > maxDigestSize {
		return ""
	}
	return dirs.Digest(fd, st.Size, make([]byte, min(st.Size+1, 32<<10)))
}
