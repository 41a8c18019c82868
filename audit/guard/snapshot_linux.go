package guard

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/spec"
	"sbx/wrap"
)

// Snapshot is the directories of the writable trees as they were at launch: a
// descriptor each, and the time. Watch and Sweep go nowhere that does not
// begin at one of them. An open Held is not copied.
type Snapshot struct {
	trees []tree
	at    unix.Timespec // by the clock that file systems stamp with
	// links are the protected names that are links: that clock ticks in steps of
	// milliseconds, and one that was made just before has the launch's own time.
	links map[string]linkState
}

// linkState is a link as it was at launch: none that the command puts in its place
// leads elsewhere and is the same.
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

// same tells whether a link is as it was at launch.
func (h *Snapshot) same(path string, dir int, name string) bool {
	was, held := h.links[path]
	now, ok := linkAt(dir, name)
	return held && ok && now == was
}

type tree struct {
	path string
	fd   int
	// clocked tells whether the file system's times are this machine's, so
	// that they can tell what is older than the launch.
	clocked bool
}

// Hold opens the writable trees. It is to be called before the command starts.
func Hold(w wrap.Watch) (*Snapshot, error) {
	h := &Snapshot{trees: make([]tree, 0, len(w.Trees))}
	for _, path := range w.Trees {
		fd, err := dirs.OpenRealDir(path)
		if err == unix.ENOTDIR && !isLink(path) {
			continue // a single file that may be written has no names beneath
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

// localClock tells whether a file system stamps changes with this kernel's
// clock; NFS, FUSE and their like may use a server's.
func localClock(magic int64) bool {
	switch magic {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.F2FS_SUPER_MAGIC, 0x2fc12fc1: // ZFS
		return true
	}
	return false
}

// Close gives the directories back.
func (h *Snapshot) Close() {
	for i := range h.trees {
		dirs.Close(h.trees[i].fd)
	}
	h.trees = nil
}

// began is when that was, at the latest now.
func (h *Snapshot) began(now time.Time) time.Time {
	if at := time.Unix(h.at.Unix()); h.at != (unix.Timespec{}) && at.Before(now) {
		return at
	}
	return now
}

// find is the tree that holds path, the innermost, and path relative to it.
func (h *Snapshot) find(path string) (t *tree, rel string) {
	for i := range h.trees {
		at := &h.trees[i]
		r, ok := beneath(path, at.path)
		if ok && r != "" && (t == nil || len(at.path) > len(t.path)) {
			t, rel = at, r
		}
	}
	return t, rel
}

// has tells whether path is the top of a tree.
func (h *Snapshot) has(path string) bool {
	return slices.ContainsFunc(h.trees, func(t tree) bool { return t.path == path })
}

// beneath tells whether path is dir or lies beneath it, and how it is called
// from there.
func beneath(path, dir string) (rel string, ok bool) {
	if dir == "/" {
		dir = ""
	}
	switch {
	case len(path) < len(dir) || path[:len(dir)] != dir:
		return "", false
	case len(path) == len(dir):
		return "", true
	case path[len(dir)] != '/':
		return "", false
	}
	return path[len(dir)+1:], true
}

// under puts a relative path beneath an absolute directory.
func under(dir, rel string) string {
	switch {
	case rel == "":
		return dir
	case dir == "/":
		return dir + rel
	}
	return dir + "/" + rel
}

// age is whether something was made before the launch.
type age uint8

const (
	ageUnsure age = iota
	ageNew
	ageOld
)

// ageOf tells from its times how old something is. Neither the time of birth
// nor that of the last change of the inode can be set by a program: what was
// born since is new, what nobody changed since (a rename is a change) is old.
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
