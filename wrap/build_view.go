package wrap

import (
	"slices"

	"sbx/internal/view"
	"sbx/spec"
)

// Seen is what the command may do at each path, whoever holds it.
func (p *Plan) Seen() *view.Tree {
	if p.Rung == RungParent {
		return &p.Outer
	}
	return &p.View
}

// lay shows source, which is of kind k, at path, as mode says, in place of what the
// view has there.
func (b *layers) lay(path, source string, k Kind, mode Mode, f spec.Field) {
	if f == "" && b.r.AccessMode != spec.AccessUnset { // the working directory
		f = "access_mode"
	}
	a := view.Write
	if mode == ModeRO || mode == ModeKeep && b.restricted() {
		a = view.Read
	}
	b.view = b.view.With(view.Layer{Path: path, Grant: view.Grant{Access: a, Source: source, File: k != Dir, Because: view.Cause{Field: string(f), Why: b.r.PresetWhy(f)}}})
}

// layOwn puts something of the sandbox's own at path, which may be written.
func (b *mounter) layOwn(path string, f spec.Field) {
	b.made[path] = true
	b.lay(path, "", Dir, ModeRW, f)
}

// layNothing begins a root in which only what is named is in view.
func (b *places) layNothing() {
	f := spec.Field("filesystem.read")
	switch {
	case b.r.Root.Abs != "":
		f = "sandbox.root"
	case b.r.Job != nil:
		f = "--input, --output"
	case b.whole:
		f = ""
	}
	b.view = b.view.With(view.Layer{Path: "/", Grant: view.Grant{Access: view.Absent, Because: view.Cause{Field: string(f)}}})
}

// layMask hides what the view has at path.
func (b *layers) layMask(path string, f spec.Field, why string) {
	b.view = b.view.With(view.Layer{Path: path, Grant: view.Grant{Access: view.Hidden, Because: view.Cause{Field: string(f), Why: why}}})
}

// layClosed lets nothing at path be written.
func (b *layers) layClosed(path string, f spec.Field, why string) {
	b.view = b.view.With(view.Layer{Path: path, Kind: view.Close, Grant: view.Grant{Protected: f == FieldProtected, Because: view.Cause{Field: string(f), Why: why}}})
}

// layCovered is a directory that is covered by one of the sandbox's own with the same
// names, but for those that are hidden: nothing is made or changed in the host's by it.
func (b *covering) layCovered(c *cover) {
	if c.layer {
		b.view = b.view.With(view.Layer{Path: c.dir, Grant: view.Grant{Access: view.Write, Source: c.dir, Copied: true, Because: view.Cause{Field: string(c.layerField())}}})
	} else {
		below := b.view.At(c.dir).Because
		b.lay(c.dir, c.dir, Dir, ModeRO, spec.Field(below.Field))
	}
	why := ""
	if c.homes {
		why = OtherHome
	}
	for _, name := range c.hide {
		b.layMask(c.dir+name, c.f, why)
	}
}

// layBare is what Landlock alone holds, on the host or in an outer sandbox: what is out
// of its rules' reach can be named, and what is hidden or protected by a mount elsewhere
// is not here.
func (b *rules) layBare() {
	if b.h.LandlockABI == 0 || !b.restricted() {
		b.lay("/", "/", Dir, ModeRW, "")
		return
	}
	if b.r.Visible {
		b.lay("/proc", "/proc", Dir, ModeRO, FieldProcesses) // without namespaces there is no other
	} else {
		b.lay("/", "/", Dir, ModeRO, b.modeField())
	}
	for _, s := range b.h.System {
		b.lay(s.Real, s.Real, s.Kind, ModeRO, "filesystem.read")
	}
	for _, p := range append([]spec.Path{b.r.Restricted}, b.r.Read...) {
		if p.Real != "" {
			b.lay(p.Real, p.Real, pathKind(p), ModeRO, p.Field)
		}
	}
	if p := b.h.Parent; p != nil {
		for _, dir := range p.Private {
			if !slices.ContainsFunc(p.Writable, func(w string) bool { return under(w, dir) && !b.inWritable(w) }) { // else Landlock could not deny that
				b.lay(dir, "", Dir, ModeRW, FieldPrivate)
			}
		}
	}
	for _, w := range b.writables() {
		b.lay(w.Real, w.Real, pathKind(w), ModeRW, w.Field)
	}
	for _, d := range b.devices() {
		b.lay(d.Real, d.Real, Device, ModeDevice, FieldPrivate)
	}
}

// layNames protects, in the writable trees, the names that must not come into being.
func (b *guards) layNames(trees []string) {
	for _, top := range trees {
		b.view = b.view.WithNames(view.Names{Top: top, Because: func(rel string) (view.Cause, bool) {
			row, ok := IsProtectedName(rel)
			path := top + "/" + rel
			if !ok || b.allowed(path) || slices.ContainsFunc(b.h.Protected, func(p Protected) bool { return p.Shared && p.Path == path }) {
				return view.Cause{}, false
			}
			return view.Cause{Field: string(FieldProtected), Why: row.Why}, true
		}})
	}
}
