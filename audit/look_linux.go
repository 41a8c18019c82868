package audit

import "time"

// LookEvery is how often a watch that could not begin is to look by itself.
const LookEvery = 500 * time.Millisecond

// maxTold is how many names that appeared are remembered between two looks.
const maxTold = 1000

// Look tells what happened since the last look, for a watch that could not begin.
// The command itself may be why: what inotify gives a user is shared by all of that
// user's processes, in whichever namespace.
func (x *Watch) Look(now time.Time) (out []Notice) {
	since := x.looked
	if since.IsZero() {
		since = x.sweep.Held.began(now)
	}
	x.looked = now
	for i := range x.files {
		out = x.compare(out, i, now, since)
	}
	if x.buf == nil {
		x.buf, x.told = make([]byte, 4<<10), map[string]identity{}
	}
	x.next = x.next[:0]
	for i := range x.sweep.Held.trees {
		x.next = append(x.next, place{&x.sweep.Held.trees[i], ""})
	}
	for n := 0; n < maxWatched && n < len(x.next); n++ {
		x.follow(x.next[n], func(path string) {
			is := identify(path)
			if x.told[path] == is || len(x.told) >= maxTold {
				return // it was told, and is there still
			}
			x.told[path] = is
			out = append(out, Notice{Path: path, At: now, What: Appeared})
		})
	}
	x.next = nil
	return out
}
