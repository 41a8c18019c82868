package wrap

import (
	"slices"

	"sbx/spec"
)

// nestedFiles compares the file rules with the outer sandbox's, and reports whether Landlock must
// enforce a narrower one.
func (b *nesting) nestedFiles(held *Parent) (more bool) {
	narrower := func(f spec.Field, why string) {
		more = true
		b.narrower(f, why, Degraded)
	}
	if b.r.Visible && !held.Visible {
		narrower("filesystem.read", "the outer sandbox shows the whole host")
	} else if b.r.Visible {
		for _, path := range held.Read {
			if !b.inView(path) {
				narrower("filesystem.read", "the outer sandbox shows "+path+" too")
				break
			}
		}
	}
	if b.restricted() {
		for _, path := range held.Writable {
			if !b.inWritable(path) {
				narrower(b.modeField(), "in the outer sandbox "+path+" is writable too")
				break
			}
		}
		if held.AccessMode == spec.AccessUnset && b.r.Private && !held.Visible {
			narrower("access_mode", "the outer sandbox has no access_mode")
		}
	}
	for _, h := range b.r.Hide {
		if h.Exists && !slices.ContainsFunc(held.Hidden, func(d string) bool { return under(h.Real, d) }) {
			b.narrower("filesystem.hide", "the outer sandbox shows "+h.Real, Unavailable)
			break
		}
	}
	if len(b.r.Mounts) > 0 {
		b.narrower("filesystem.mounts", "nothing can be mounted there", Unavailable)
	}
	return more
}
