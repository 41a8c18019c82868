package wrap

import (
	"slices"

	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap/defaults"
)

// Seen returns what the command may do at each path, whichever sandbox enforces it.
func (p *Plan) Seen() *view.Tree {
	if p.Rung == RungParent {
		return &p.Outer
	}
	return &p.View
}

// layBare lays what Landlock alone enforces, on the host or in an outer sandbox. Paths that no rule
// allows can still be named, and nothing is hidden or protected, since that takes mounts.
func (b *rules) layBare() {
	show := func(path string, k Kind, m Mode, f spec.Field) {
		b.lay(&item{path: path, source: path, kind: k, mode: m, field: f})
	}
	if b.h.LandlockABI == 0 || !b.restricted() {
		show("/", Dir, ModeRW, "")
		return
	}
	if b.r.Visible {
		show("/proc", Dir, ModeRO, FieldProcesses) // without namespaces there is only the host's
	} else {
		show("/", Dir, ModeRO, b.modeField())
	}
	for _, s := range b.h.System {
		show(s.Real, s.Kind, ModeRO, fieldRead)
	}
	for _, p := range append([]spec.Path{b.r.Restricted}, b.r.Read...) {
		if p.Real != "" {
			show(p.Real, pathKind(p), ModeRO, p.Field)
		}
	}
	if p := b.h.Parent; p != nil {
		for _, dir := range p.Private {
			if !slices.ContainsFunc(p.Writable, func(w string) bool { return under(w, dir) && !b.inWritable(w) }) { // else a rule for this path could not deny access under dir
				b.lay(&item{how: itemOwned, path: dir, kind: Dir, field: FieldPrivate})
			}
		}
	}
	for _, w := range b.writables() {
		show(w.Real, pathKind(w), ModeRW, w.Field)
	}
	for _, d := range b.devices() {
		show(d.Real, Device, ModeDevice, FieldPrivate)
	}
}

// layNames protects the names in the writable trees that must not be created.
func (b *guards) layNames(trees []string) {
	for _, top := range trees {
		b.view = b.view.WithNames(view.Names{Top: top, Because: func(rel string) (view.Cause, bool) {
			row, ok := defaults.IsProtectedName(rel)
			path := top + "/" + rel
			if !ok || b.allowed(path) || slices.ContainsFunc(b.h.Protected, func(p Protected) bool { return p.Shared && p.Path == path }) {
				return view.Cause{}, false
			}
			return view.Cause{Field: string(FieldProtected), Why: row.Why}, true
		}})
	}
}
