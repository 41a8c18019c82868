package broker

import (
	"sbx/internal/broker/grant"
	"sbx/internal/broker/wire"
	"sbx/internal/view"
)

// walls know what the sandbox has, and make what a tool runs under of it.
type walls struct {
	start   *wire.Start
	granted *grant.Granted
}

// writable tells whether the sandbox can write a path of the host's.
func (w *walls) writable(file string) bool {
	for _, p := range w.places(view.Write) {
		if view.Within(file, p) {
			return true
		}
	}
	return false
}

// places are the host's folders and files that the sandbox can write, or that are hidden
// from it beneath those.
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
