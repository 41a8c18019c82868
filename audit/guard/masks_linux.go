package guard

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs"
	"sbx/wrap"
)

// The bounds on notices of masked directories: a program that opens one over and over must
// not keep the supervisor busy.
const (
	maxMasks  = 256
	maxOpened = 1000 // per directory; then its watch ends
)

// masked is an empty directory that is mounted over one or several directories in the sandbox.
type masked struct {
	inside string // the path in the sandbox; "" if there are several
	times  int
}

// Masks begins to watch for programs that open a masked directory. dir contains the empty
// directories that are mounted over the masked ones. If the user's watches are used up, the rest
// stays unwatched: these notices protect nothing and only explain.
func (x *Watch) Masks(dir int, list []wrap.MaskedDir) {
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
	if mask&unix.IN_OPEN == 0 || m.times == maxOpened { // an event from before the watch ended
		return out
	}
	if m.times++; m.times == maxOpened {
		_, _ = unix.InotifyRmWatch(x.fd, uint32(wd))
	}
	return append(out, audit.Notice{Path: m.inside, At: now, What: audit.Opened})
}
