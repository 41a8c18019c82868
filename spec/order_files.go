package spec

import "slices"

// view compares what is in view.
func (o *order) view() {
	p, c := o.p, o.c
	if p.Visible && !c.Visible {
		o.wider("filesystem.read", "the whole host in view", "only what is named", o.at("filesystem.read"))
		return
	}
	if p.Private && !c.Private {
		o.wider("access_mode", "the secrets in view", "them hidden", o.at("access_mode"))
	}
	if p.Visible && c.System && !p.System {
		o.wider("filesystem.read", System, "no "+System, o.at("filesystem.read"))
	}
	for k, list := range [][]Path{c.Read, c.Write} {
		for i := range list {
			real := list[i].Real
			if (inList(p.Read, real) || inList(p.Write, real)) && (!o.keepsSecret(real) || c.Planted(&list[i])) || o.shadowed(real) {
				continue
			}
			why := o.unseen(real)
			// In a directory above that is only read, and in the whole root, they stay.
			if why == "" && (k == 1 && real != "/" || real == "/dev") {
				why = o.coversPrivate(real)
			}
			if why != "" {
				o.widerPath(&list[i], "in view", why)
			}
		}
	}
}

// inList tells whether a list has a path itself.
func inList(list []Path, real string) bool {
	for i := range list {
		if list[i].Real == real {
			return true
		}
	}
	return false
}

// shadowed tells whether the child itself hides a path or mounts something
// over it: naming it opens nothing then.
func (o *order) shadowed(real string) bool {
	if hides(o.p, real) {
		return false
	}
	for i := range o.c.Mounts {
		if under(real, o.c.Mounts[i].Target) {
			return true
		}
	}
	return hides(o.c, real)
}

// widerPath refuses a path that a list of the child names.
func (o *order) widerPath(at *Path, what, why string) {
	f, on := at.Field, at.At
	if f == "" { // implied: the working directory, or what is restricted to
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
	// What a workshop implies is in two lists, and once is enough.
	if !slices.ContainsFunc(o.problems, func(q *Problem) bool { return *q == *p }) {
		o.problems = append(o.problems, p)
	}
}

// writesBy is where the parent says what may be written, or what may be seen of
// which that is a part.
func (o *order) writesBy() string {
	at := orElse(o.at("filesystem.write"), o.at("filesystem.read"))
	return orElse(at, orElse(o.p.At("restrict"), o.p.At("sandbox.root")))
}

// unseen tells why parent does not show a path of the host; "" where it does.
func (o *order) unseen(real string) string {
	p := o.p
	for i := range p.Hide {
		if under(real, p.Hide[i].Real) {
			return "it hidden by " + odd(p.Hide[i].Asked) + " (" + p.Hide[i].At + ")"
		}
	}
	for i := range p.Mounts {
		m := &p.Mounts[i]
		if under(real, m.Target) && (m.Mode == MountTmpfs || m.Source.Real != m.Target) {
			return "something else mounted at " + odd(m.Target) + " (" + m.At + ")"
		}
	}
	if o.keepsSecret(real) {
		return "it hidden: it is a secret (" + o.privateBy() + ")"
	}
	if dir := o.privateAt(real); dir != "" && !o.showsHost(real) && (o.lists.System == nil || !o.lists.System(real)) {
		return o.itsOwn(dir)
	}
	if !p.Visible || o.shown(real) || p.System && o.lists.System != nil && o.lists.System(real) {
		return ""
	}
	return "only what is named in view (" + orElse(o.at("filesystem.read"), o.at("sandbox.root")) + ")"
}

// shown tells whether parent names a path, or one above it.
func (o *order) shown(real string) bool {
	for _, list := range [][]Path{o.p.Read, o.p.Write} {
		for i := range list {
			if under(real, list[i].Real) {
				return true
			}
		}
	}
	for i := range o.p.Mounts {
		if o.through(&o.p.Mounts[i], real) {
			return true
		}
	}
	return o.p.Job != nil && under(real, "/work")
}

func (o *order) isSecret(path string) bool {
	return o.lists.Secret != nil && o.lists.Secret(path, o.p.Home)
}

// keepsSecret tells whether parent hides a path as a secret.
func (o *order) keepsSecret(real string) bool {
	return o.p.Private && o.isSecret(real) && !o.opened(real)
}

// opened tells whether parent shows a secret: only by its own path, or one
// beneath it.
func (o *order) opened(real string) bool {
	for _, list := range [][]Path{o.p.Read, o.p.Write} {
		for i := range list {
			if n := &list[i]; n.Field != "" && under(real, n.Real) && (o.isSecret(n.Abs) || o.isSecret(n.Real) && !o.p.Planted(n)) {
				return true
			}
		}
	}
	return false
}

// writes compares what may be written.
func (o *order) writes() {
	p, c := o.p, o.c
	if p.Confined && !c.Confined {
		o.wider("filesystem.write", "everything writable", "only what is named", o.writesBy())
		return
	}
	for i := range c.Write {
		w := &c.Write[i]
		if inList(p.Write, w.Real) || o.shadowed(w.Real) {
			continue
		}
		if !p.Confined {
			if p.SideDoors && under(w.Real, "/dev") && !under(w.Real, "/dev/shm") {
				o.widerPath(w, "writable", "a /dev of its own, without it")
			}
			continue
		}
		if !o.writable(w.Real) {
			o.widerPath(w, "writable", "it read-only or out of view ("+o.writesBy()+")")
		} else if name := o.unprotects(w.Real); name != "" && w.Field != "" {
			o.widerPath(w, "writable", odd(name)+" protected ("+orElse(o.at("filesystem.write"), o.at("access_mode"))+")")
		}
	}
	for i, g := range c.Globs {
		if p.Private && !slices.Contains(p.Globs, g) {
			f := item("filesystem.write", i)
			o.problems = append(o.problems, &Problem{Field: f, On: o.c.At("filesystem.write"), Do: "have " + odd(g) + " writable",
				Why: "the parent has that name protected (" + orElse(o.at("filesystem.write"), o.at("access_mode")) + ")", Help: NarrowHelp})
		}
	}
}

// writable tells whether parent lets a path of the host be written: through a
// mount, or by its own name where no mount stands on that.
func (o *order) writable(real string) bool {
	for i := range o.p.Mounts {
		m := &o.p.Mounts[i]
		if m.Mode == MountRW && o.through(m, real) {
			return true
		}
	}
	if standingAt(o.p, real) != nil {
		return false
	}
	if !o.p.Confined {
		return true
	}
	for i := range o.p.Write {
		if w := &o.p.Write[i]; under(real, w.Real) && (w.IsDir || w.Real == real) {
			return true
		}
	}
	return o.p.Job != nil && (under(real, "/work") || under(real, "/output"))
}

func hides(r *Resolved, path string) bool {
	for i := range r.Hide {
		if h := &r.Hide[i]; under(path, h.Real) || under(path, h.Abs) {
			return true
		}
	}
	return false
}

// hidden compares what is hidden.
func (o *order) hidden() {
	for i := range o.p.Hide {
		if h := &o.p.Hide[i]; !hides(o.c, h.Real) && !hides(o.c, h.Abs) {
			o.wider("filesystem.hide", odd(h.Abs)+" in view", "it hidden", h.At)
		}
	}
}
