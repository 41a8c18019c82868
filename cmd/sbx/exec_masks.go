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
	v.Rule, v.AllowWith = x.maskRule(f)
	x.record.Violations.Add(v)
	x.once("open masked "+string(f.For), v, what+" is hidden, and looked empty")
}

// maskRule is the line of the spec that hides a folder, and the one that would
// show it: none for what the spec hides itself.
func (x *execution) maskRule(f *wrap.Folder) (rule, allow string) {
	switch {
	case f.Path == "": // one of several of the default
	case f.For == "filesystem.hide":
		for i := range x.resolved.Hide {
			if h := &x.resolved.Hide[i]; h.Real == f.Path || h.Abs == f.Path {
				return string(h.Field), ""
			}
		}
	case f.For == wrap.FieldSecrets && slices.Contains(x.host.Removable, f.Path):
		return string(f.For), wrap.Writing(x.resolved, f.Path)
	case f.For == wrap.FieldSecrets:
		return string(f.For), wrap.Reading(x.resolved, f.Path)
	}
	return string(f.For), ""
}
