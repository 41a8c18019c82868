package guard

import (
	"time"

	"sbx/audit"
)

// LookEvery is how often to call Poll when a watch could not begin.
const LookEvery = 500 * time.Millisecond

// maxTold is the number of reported names that Poll remembers, so as not to report them each time.
// When there are more, Poll forgets them and reports all once more.
const maxTold = 1000

// Poll returns what happened since the last call, for a watch that could not begin. The
// command itself can prevent that: all processes of a user share the user's inotify limits,
// in whichever namespace they are.
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

// around reports protected names in the directories that are watched, or would be.
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
				return // reported before: the name could not be moved away, or is old
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
