package guard

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs"
	"sbx/wrap"
)

// The bounds of what is noticed of masked folders: a program that opens one over
// and over must not keep the supervisor.
const (
	maxMasks  = 256
	maxOpened = 1000 // of one directory, after which nobody looks any more
)

// masked is the empty directory that lies over one of the sandbox's, or over several.
type masked struct {
	inside string // "" where it may be any of several
	times  int
}

// Masks begins to watch who opens the directories that masks show, beneath dir, which
// is the empty directory of all of them. inotify does not tell who it was. Where no
// more is to be had the rest is left unwatched: it describes and protects nothing.
func (x *Watch) Masks(dir int, list []wrap.Folder) {
	if x.fd < 0 || dir < 0 {
		return
	}
	x.masks = map[int32]*masked{}
	for i := range list[:min(len(list), maxMasks)] {
		f := &list[i]
		path := dirs.FDPath(dir)
		if f.Own != 0 {
			path += "/" + strconv.Itoa(f.Own)
		}
		wd, err := unix.InotifyAddWatch(x.fd, path, unix.IN_OPEN|unix.IN_ONLYDIR)
		if err != nil {
			return
		}
		if m := x.masks[int32(wd)]; m == nil {
			x.masks[int32(wd)] = &masked{inside: f.Inside}
		} else if m.inside != f.Inside {
			m.inside = ""
		}
	}
}

func (x *Watch) opened(out []audit.Notice, wd int32, m *masked, mask uint32, now time.Time) []audit.Notice {
	if mask&unix.IN_OPEN == 0 || m.times == maxOpened { // one that was under way when the watch ended
		return out
	}
	if m.times++; m.times == maxOpened {
		_, _ = unix.InotifyRmWatch(x.fd, uint32(wd))
	}
	return append(out, audit.Notice{Path: m.inside, At: now, What: audit.Opened})
}
