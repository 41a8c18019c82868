package guard

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
)

// Snapshot holds the roots of the writable trees as they were at launch, as open descriptors,
// and the time. Watch and Sweep reach files only through them. A Snapshot must not be copied.
type Snapshot struct {
	trees []tree
	at    unix.Timespec // of the clock that file systems take times from
	// links are the protected names that were symbolic links. Their times do not distinguish them
	// from later links: the clock ticks in milliseconds, and a link made just before the launch has
	// the time of the launch.
	links map[string]linkState
}

// linkState describes a symbolic link at launch, so that another in its place is noticed.
type linkState struct {
	identity
	changed unix.StatxTimestamp
	target  string
}

func linkAt(dir int, name string) (l linkState, ok bool) {
	var st unix.Statx_t
	var to [unix.PathMax]byte
	if statx(dir, name, &st) != nil || st.Mask&unix.STATX_CTIME == 0 {
		return l, false
	}
	n, err := unix.Readlinkat(dir, name, to[:])
	return linkState{identityOf(&st), st.Ctime, string(to[:max(n, 0)])}, err == nil
}

// same reports whether a link is as it was at launch.
func (h *Snapshot) same(path string, dir int, name string) bool {
	was, held := h.links[path]
	now, ok := linkAt(dir, name)
	return held && ok && now == was
}

type tree struct {
	path string
	fd   int
	// clocked reports whether the times of the file system are this machine's, so that they show
	// whether a file is older than the launch.
	clocked bool
}

// Hold opens the roots of the writable trees. Call it before the command starts.
func Hold(w wrap.Watch) (*Snapshot, error) {
	h := &Snapshot{trees: make([]tree, 0, len(w.Trees))}
	for _, path := range w.Trees {
		fd, err := dirs.OpenRealDir(path)
		if err == unix.ENOTDIR && !isLink(path) {
			continue // a single writable file
		}
		if err != nil {
			h.Close()
			return nil, &spec.Problem{Field: wrap.FieldProtected, On: path, Do: "hold the directory", Why: err.Error()}
		}
		t := tree{path: path, fd: fd}
		var fs unix.Statfs_t
		if unix.Fstatfs(fd, &fs) == nil {
			t.clocked = localClock(fs.Type)
		}
		h.trees = append(h.trees, t)
	}
	for i := range w.Protected {
		if p := &w.Protected[i]; p.Link {
			if l, ok := linkAt(unix.AT_FDCWD, p.Path); ok {
				if h.links == nil {
					h.links = map[string]linkState{}
				}
				h.links[p.Path] = l
			}
		}
	}
	if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &h.at); err != nil {
		h.at = unix.Timespec{}
	}
	return h, nil
}

func isLink(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
}

// localClock reports whether a file system stamps changes with this kernel's clock; network file
// systems and FUSE may use a server's.
func localClock(magic int64) bool {
	switch magic {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.F2FS_SUPER_MAGIC, 0x2fc12fc1: // ZFS
		return true
	}
	return false
}

// Close closes the descriptors.
func (h *Snapshot) Close() {
	for i := range h.trees {
		dirs.Close(h.trees[i].fd)
	}
	h.trees = nil
}

// began returns the time of the launch, at the latest now.
func (h *Snapshot) began(now time.Time) time.Time {
	if at := time.Unix(h.at.Unix()); h.at != (unix.Timespec{}) && at.Before(now) {
		return at
	}
	return now
}

// find returns the innermost tree that path lies in, and path relative to its root.
func (h *Snapshot) find(path string) (t *tree, rel string) {
	for i := range h.trees {
		at := &h.trees[i]
		r, ok := view.Relative(path, at.path)
		if ok && r != "" && (t == nil || len(at.path) > len(t.path)) {
			t, rel = at, r
		}
	}
	return t, rel
}

// has reports whether path is the top of a tree.
func (h *Snapshot) has(path string) bool {
	return slices.ContainsFunc(h.trees, func(t tree) bool { return t.path == path })
}

// age says whether a file was created before the launch.
type age uint8

const (
	ageUnsure age = iota
	ageNew
	ageOld
)

// ageOf returns the age of a file by its times. No program can set the birth time or the
// ctime of an inode: a file born after the launch is new, and a file whose inode has not
// changed since, not even by a rename, is old.
func (h *Snapshot) ageOf(t *tree, st *unix.Statx_t) age {
	if !t.clocked || h.at == (unix.Timespec{}) {
		return ageUnsure
	}
	if st.Mask&unix.STATX_BTIME != 0 && !earlier(st.Btime, h.at) {
		return ageNew
	}
	if st.Mask&unix.STATX_CTIME != 0 && earlier(st.Ctime, h.at) {
		return ageOld
	}
	return ageUnsure
}

func earlier(a unix.StatxTimestamp, b unix.Timespec) bool {
	return a.Sec < b.Sec || a.Sec == b.Sec && int64(a.Nsec) < b.Nsec
}
