package guard

import (
	"time"

	"sbx/audit"
)

// Fallen tells whether something lacks its mount that no renewal under way will
// mount again.
func (x *Watch) Fallen() bool {
	for i := range x.files {
		if g := &x.files[i]; !g.loose.IsZero() && !g.asked && !g.stuck {
			return true
		}
	}
	return false
}

// Renewing says that a renewal begins. What falls off from here on waits for the
// next one.
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

// Renewed says that the renewal is over. failed tells why something could not
// be mounted again, and "" for what could; gone is whether nothing stands there.
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

// Again has all that lacks its mount wait for another renewal.
func (x *Watch) Again() {
	for i := range x.files {
		x.files[i].asked, x.files[i].stuck = false, false
	}
}

// last is the last of the events that a renewal is for, nil where none was kept.
func (g *guarded) last() *audit.Notice {
	if n := len(g.events); n > g.ended && g.omitted == 0 {
		return &g.events[n-1]
	}
	return nil
}
