package guard

import (
	"time"

	"sbx/audit"
)

// Fallen reports whether a file lacks its mount and no renewal under way will restore it.
func (x *Watch) Fallen() bool {
	for i := range x.files {
		if g := &x.files[i]; !g.loose.IsZero() && !g.asked && !g.stuck {
			return true
		}
	}
	return false
}

// Renewing notes that a renewal begins. Mounts that fall off from now on wait for the next
// one.
func (x *Watch) Renewing() {
	for i := range x.files {
		g := &x.files[i]
		if g.loose.IsZero() {
			continue
		}
		g.asked, g.stuck = true, false
		g.id = identify(g.path)
		if n := g.last(); n != nil && g.before != "" {
			n.Found = digestPath(g.path)
		}
	}
}

// Renewed notes that the renewal is over. failed returns why a file could not be mounted
// again, "" if it could; gone is whether the file no longer exists.
func (x *Watch) Renewed(now time.Time, failed func(path string) (why string, gone bool)) {
	for i := range x.files {
		g := &x.files[i]
		if !g.asked {
			continue
		}
		g.asked = false
		why, gone := failed(g.path)
		switch {
		case gone:
			g.settle(now)
		case why != "":
			g.stuck, g.why = true, why
		default:
			if n := g.last(); n != nil {
				n.Renewed, n.Lacked = now, max(now.Sub(g.loose), 0)
				if g.before != "" {
					n.Kept = digestPath(g.path)
				}
			}
			g.why = ""
			g.settle(now)
		}
	}
}

// Again lets every file that lacks its mount wait for another renewal.
func (x *Watch) Again() {
	for i := range x.files {
		x.files[i].asked, x.files[i].stuck = false, false
	}
}

// last returns the event that the present renewal answers, nil if it was not kept.
func (g *guarded) last() *audit.Notice {
	if n := len(g.events); n > g.ended && g.omitted == 0 {
		return &g.events[n-1]
	}
	return nil
}
