package wrap

import (
	"testing"

	"sbx/internal/view"
)

// The View says what the mounts do: each file of the host that can be reached is
// where the View has it, and can be written where it says so; and nothing else can.
func TestViewIsWhatTheMountsShow(t *testing.T) {
	eachPlan(t, 5, func(t *testing.T, c *planned) {
		if c.err != nil || c.plan.Base == BaseHost {
			return
		}
		tr := newTree(c.w)
		if err := tr.play(c.plan.Mounts); err != nil {
			t.Fatal(err)
		}
		reached := map[string]string{}
		for _, s := range tr.walk() {
			reached[s.path] = s.identity
			g := c.plan.View.At(s.path)
			if s.kind == Symlink {
				continue
			}
			if g.Access < view.Read || g.Source != s.identity {
				t.Errorf("%s is %s, and the view says %+v", s.path, s.identity, g)
			} else if writable := g.Access == view.Write && !g.Copied; writable == s.readOnly && (s.readOnly || !g.Protected) { // a name may be the listener's to refuse
				t.Errorf("%s is read-only: %v; the view says %+v", s.path, s.readOnly, g)
			}
		}
		for path, n := range c.w.nodes {
			for _, at := range append(c.plan.View.Images(path), path) {
				_, there := tr.lookUp(at) // a folder of an overlay's layer is merged with the host's
				if g := c.plan.View.At(at); g.Access >= view.Read && g.Source == path && reached[at] != path && n.kind != Symlink && !(there && n.kind == Dir) {
					t.Errorf("%s cannot be reached at %s, and the view says %+v", path, at, g)
				}
			}
		}
	})
}
