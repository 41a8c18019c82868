package guard

import (
	"time"

	"sbx/audit"
)

// LookEvery is how often a watch that could not begin is to look by itself.
const LookEvery = 500 * time.Millisecond

// maxTold is how many names that appeared are remembered between two looks, lest they
// be told of each time. Beyond them all are told of once more.
const maxTold = 1000

// Walk tells what happened since the last look, for a watch that could not begin.
// The command itself may be why: what inotify gives a user is shared by all of that
// user's processes, in whichever namespace.
func (x *Watch) Poll(now time.Time) (out []audit.Notice) {
	since := x.looked
	if since.IsZero() {
		since = x.sweep.Held.began(now)
	}
	x.looked = now
	for i := range x.files {
		out = x.compare(out, i, now, since)
	}
	return x.around(out, now)
}

// around tells of protected names in the directories that are watched, or would be.
func (x *Watch) around(out []audit.Notice, now time.Time) []audit.Notice {
	if x.buf == nil {
		x.buf = make([]byte, 4<<10)
	}
	x.next = nil
	for i := range x.sweep.Held.trees {
		x.next = append(x.next, place{&x.sweep.Held.trees[i], ""})
	}
	for n := 0; n < maxWatched && n < len(x.next); n++ {
		x.follow(x.next[n], func(path string) {
			is := identify(path)
			if was, ok := x.told[path]; ok && was == is {
				return // it could not be moved away, or is old
			}
			if x.told == nil || len(x.told) >= maxTold {
				x.told = map[string]identity{}
			}
			x.told[path] = is
			out = append(out, audit.Notice{Path: path, At: now, What: audit.Appeared})
		})
	}
	x.next = nil
	return out
}
