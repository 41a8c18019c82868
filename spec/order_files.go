package spec

import (
	"slices"
	"strings"

	"sbx/internal/view"
)

// files compares the visible and writable files of both grounds, path by path. It reports each
// difference for the child's entry that causes it.
func (o *order) files() {
	keys := append(o.p.names(), o.c.names()...)
	slices.Sort(keys) // a directory comes before its contents
	o.ground = groundOf(o.p, &o.in.Lists, o.in.Inside, false, keys)
	o.more = view.Wider(o.ground.tree, groundOf(o.c, &o.in.Lists, o.in.Inside, true, keys).tree)
}

func filesRead(o *order) {
	p, c := o.p, o.c
	if p.Visible && !c.Visible {
		o.wider("filesystem.read", "the whole host in view", "only what is named", p.origin("filesystem.read"))
		return
	}
	if p.Private && !c.Private {
		o.wider("access_mode", "the secrets in view", "them hidden", p.origin("access_mode"))
	}
	if p.Visible && c.System && !p.System {
		o.wider("filesystem.read", System, "no "+System, p.origin("filesystem.read"))
	}
	for _, list := range [][]Path{c.Read, c.Write} {
		for i := range list {
			o.entryRead(&list[i])
		}
	}
}

// entryRead rejects an entry that shows more than the parent does. It also rejects a path that the
// parent hides, even if the child hides the path too.
func (o *order) entryRead(at *Path) {
	if o.inherits(at) || o.shadowed(at.Real) {
		return
	}
	if why := o.ground.tree.At(at.Real).Because; why.Field == byHide || why.Field == bySecret {
		o.widerPath(at, "in view", why.Why)
		return
	}
	for i := range o.more { // hidden paths and mounts under the entry have errors of their own
		d := &o.more[i]
		if d.Parent.Source != d.Child.Source && o.causes(at, d) && (d.Path == at.Real || d.Parent.Because.Field == byPrivate) {
			o.widerPath(at, "in view", d.Parent.Because.Why)
			return
		}
	}
}

// causes reports whether an entry of the child's lists causes a difference.
func (o *order) causes(at *Path, d *view.Difference) bool {
	return d.Child.Because.Field == string(at.Field) && under(d.Path, at.Real)
}

// inherits reports whether the parent's lists contain the same entry, so that the child shows no
// more.
func (o *order) inherits(at *Path) bool {
	return (inList(o.p.Read, at.Real) || inList(o.p.Write, at.Real)) && (o.ground.tree.At(at.Real).Because.Field != bySecret || o.c.Planted(at))
}

// inList reports whether a list has an entry with this path.
func inList(list []Path, real string) bool {
	return slices.ContainsFunc(list, func(p Path) bool { return p.Real == real })
}

// widerPath rejects a path that a list of the child names.
func (o *order) widerPath(at *Path, what, why string) {
	f, on := at.Field, at.At
	if f == "" { // implied: the working directory or the workshop's tree
		f = "working_dir"
		if root, place := o.byRoot(); place != "" {
			f, on = root, place
		} else if !o.c.Spec.WorkingDir.Set && o.c.AccessMode != AccessUnset {
			f = "access_mode"
		}
	}
	if on == "" {
		on = o.c.At(f)
	}
	p := &Problem{Field: f, On: on, Do: "have " + odd(at.Abs) + " " + what, Why: "the parent has " + why, Help: NarrowHelp}
	if at.Real != at.Abs {
		p.Why += "; it is " + odd(at.Real)
	}
	// A workshop's tree is in two lists; one error is enough.
	if !slices.ContainsFunc(o.problems, func(q *Problem) bool { return *q == *p }) {
		o.problems = append(o.problems, p)
	}
}

// writesBy returns the place where the parent limits writable paths, or else visible ones.
func (o *order) writesBy() string {
	at := orElse(o.p.origin("filesystem.write"), o.p.origin("filesystem.read"))
	return orElse(at, orElse(o.p.At("restrict"), o.p.At("sandbox.root")))
}

func filesWrite(o *order) {
	p, c := o.p, o.c
	if p.Confined && !c.Confined {
		o.wider("filesystem.write", "everything writable", "only what is named", o.writesBy())
		return
	}
	for i := range c.Write {
		o.entryWrite(&c.Write[i])
	}
	for i, g := range c.Globs {
		if p.Private && !slices.Contains(p.Globs, g) {
			o.refuse(item("filesystem.write", i), c.At("filesystem.write"), "have "+odd(g)+" writable",
				"that name protected ("+orElse(p.origin("filesystem.write"), p.origin("access_mode"))+")")
		}
	}
}

// entryWrite rejects an entry that makes paths writable that the parent does not.
func (o *order) entryWrite(w *Path) {
	if inList(o.p.Write, w.Real) || o.shadowed(w.Real) {
		return
	}
	for i := range o.more {
		switch d := &o.more[i]; {
		case !o.causes(w, d) || d.Path != w.Real || d.Parent.Because.Field == byHide:
		case o.p.Confined:
			o.widerPath(w, "writable", "it read-only or out of view ("+o.writesBy()+")")
			return
		case d.Parent.Source == w.Real:
			o.widerPath(w, "writable", "a /dev of its own, without it")
			return
		}
	}
	if name := o.ground.unprotects(w.Real); name != "" && w.Field != "" {
		o.widerPath(w, "writable", odd(name)+" protected ("+orElse(o.p.origin("filesystem.write"), o.p.origin("access_mode"))+")")
	}
}

// shadowed reports whether the child hides a path, or mounts something over it, and the parent does
// not hide it: an entry for this path then has no effect.
func (o *order) shadowed(real string) bool {
	return !hides(o.p, real) && (hides(o.c, real) || slices.ContainsFunc(o.c.Mounts, func(m MountAt) bool { return under(real, m.Target) }))
}

func hides(r *Resolved, path string) bool {
	return slices.ContainsFunc(r.Hide, func(h Path) bool { return under(path, h.Real) || under(path, h.Abs) })
}

func filesHide(o *order) {
	for i := range o.p.Hide {
		if h := &o.p.Hide[i]; !hides(o.c, h.Real) && !hides(o.c, h.Abs) {
			o.wider("filesystem.hide", odd(h.Abs)+" in view", "it hidden", h.At)
		}
	}
}

func filesMounts(o *order) {
	for i := range o.c.Mounts {
		m := &o.c.Mounts[i]
		do := "mount " + odd(m.Source.Abs) + " at " + odd(m.Target)
		why, writes := o.mounts(m)
		if writes {
			do += " rw"
		}
		if why != "" {
			o.refuse(m.Field, m.At, do, why)
		}
	}
	for i := range o.p.Mounts {
		m := &o.p.Mounts[i]
		if mountAt(o.c, m.Target) == nil && !hides(o.c, m.Target) {
			o.wider("filesystem.mounts", "what lies under "+odd(m.Target)+" in view", "a mount on it", m.At)
		}
	}
}

// mounts returns why the parent does not allow a mount of the child; "" if it does. writes is true
// if the reason is that the parent shows the source read-only.
func (o *order) mounts(m *MountAt) (why string, writes bool) {
	p, source, same := o.p, m.Source.Real, mountAt(o.p, m.Target)
	if m.Mode == MountTmpfs || same != nil && same.Source.Real == source && (m.Mode == MountRO || same.Mode == MountRW) {
		return "", false
	}
	byMount := func(d *view.Difference) bool { return strings.HasPrefix(d.Parent.Because.Field, byMounts) }
	in := "" // why the parent does not show part of the source; hidden paths have priority
	for i := range o.more {
		switch d := &o.more[i]; {
		case d.Child.Because.Field != string(m.Field):
		case d.Path == m.Target && d.Parent.Source != source:
			return d.Parent.Because.Why, false
		case d.Path == m.Target && byMount(d):
			why, writes = "it read-only ("+p.At(Field(d.Parent.Because.Field))+")", true
		case d.Path == m.Target:
			why, writes = "it read-only ("+orElse(o.writesBy(), p.origin("filesystem.mounts"))+")", true
		case d.Path == d.Child.Source && (d.Parent.Because.Field == byHide || byMount(d)): // the child must hide it too
		case d.Parent.Because.Field == byHide:
			return odd(d.Child.Source) + " in it " + strings.TrimPrefix(d.Parent.Because.Why, "it "), false
		case d.Parent.Source == d.Child.Source:
			why, writes = odd(d.Child.Source)+" in it read-only ("+o.writesBy()+")", true
		case byMount(d):
			in = "a mount at " + odd(d.Child.Source) + " in it (" + p.At(Field(d.Parent.Because.Field)) + ")"
		default:
			in = orElse(in, d.Parent.Because.Why)
		}
	}
	if holds := o.in.Lists.Holds; source != m.Target && p.Private && holds != nil && !o.ground.opened(source) && holds(source, p.Home) {
		return "secrets in it hidden (" + p.GuardedBy() + ")", false
	}
	switch {
	case in != "":
		return in, false
	case m.Mode == MountRW && same != nil && same.Mode == MountRO:
		return "that target read-only (" + same.At + ")", true
	}
	return why, writes
}

func mountAt(r *Resolved, target string) *MountAt {
	if i := slices.IndexFunc(r.Mounts, func(m MountAt) bool { return m.Target == target }); i >= 0 {
		return &r.Mounts[i]
	}
	return nil
}
