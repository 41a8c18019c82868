package main

import (
	"slices"
	"time"

	"sbx/audit"
	"sbx/spec"
	"sbx/wrap"
)

// maxMasked is how many different masked folders are listed as opened: what
// walks over a tree opens them all, and that is not to push out the rest.
const maxMasked = 20

// opened notes that a masked folder was opened, and tells of the first. "" is one
// of those that are hidden on every machine.
func (x *execution) opened(inside string, at time.Time) {
	f, what := &wrap.Folder{For: wrap.FieldSecrets}, "a folder"
	if i := slices.IndexFunc(x.plan.Watch.Folders, func(f wrap.Folder) bool { return f.Inside == inside }); i >= 0 {
		f, what = &x.plan.Watch.Folders[i], spec.Name(inside)
	}
	if !slices.Contains(x.masksOpened, inside) {
		if len(x.masksOpened) == maxMasked {
			x.record.Violations.Omit(1)
			return
		}
		x.masksOpened = append(x.masksOpened, inside)
	}
	v := audit.Violation{Kind: "filesystem", At: at, Action: "open", Target: inside}
	v.Rule = string(f.For)
	if inside != "" {
		x.explain(&v)
	}
	x.record.Violations.Add(v)
	x.once("open masked "+string(f.For), v, what+" is hidden, and looked empty")
}
