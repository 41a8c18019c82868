package broker

import (
	"slices"

	"sbx/internal/broker/grant"
	"sbx/internal/broker/wire"
	"sbx/internal/view"
)

// walls are the boundaries of the sandbox; the boundaries of each tool's own sandbox are
// derived from them.
type walls struct {
	start   *wire.Start
	granted *grant.Granted
}

// writable reports whether the sandbox can write a path of the host.
func (w *walls) writable(file string) bool {
	return slices.ContainsFunc(w.places(view.Write), func(p string) bool { return view.Within(file, p) })
}

// places returns the host's directories and files that the sandbox can write (view.Write),
// or those inside of writable ones that it must not see (view.Hidden).
func (w *walls) places(access view.Access) (all []string) {
	tree := &w.granted.Tree
	for _, p := range tree.Places() {
		at := tree.At(p)
		switch {
		case at.Access != access:
		case access == view.Write && at.Source != "" && !view.Within(at.Source, "/dev"):
			all = append(all, at.Source)
		case access == view.Hidden:
			if above := tree.At(view.Parent(p)); above.Access == view.Write && above.Source != "" {
				all = append(all, above.Source+p[len(view.Parent(p)):])
			}
		}
	}
	return all
}
