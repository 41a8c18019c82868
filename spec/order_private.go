package spec

import (
	"slices"
	"strings"
)

// privateAt is the directory that the parent's sandbox has its own of and in which
// real lies; "" for none. Inside a sandbox the outer one's are what there is.
func (o *order) privateAt(real string) string {
	if !o.p.Private || o.inside {
		return ""
	}
	for _, dir := range o.lists.Private {
		if under(real, dir) {
			return dir
		}
	}
	return ""
}

// coversPrivate tells what the parent has private beneath a directory, which the host's
// own would come into view with.
func (o *order) coversPrivate(folder string) string {
	if !o.p.Private || o.inside {
		return ""
	}
	for _, dir := range o.lists.Private {
		if dir != folder && under(dir, folder) && !o.showsHost(dir) {
			return o.itsOwn(dir)
		}
	}
	return ""
}

// showsHost tells whether the parent shows the host's own at a path that is private
// otherwise: where its command starts, what it reads there, writes there or above,
// if not as part of the whole root, or mounts.
func (o *order) showsHost(real string) bool {
	if dir := o.p.WorkingDir.Real; dir != "" && dir != "/" && under(real, dir) {
		return true // bound in, whatever else is
	}
	for i := range o.p.Read {
		if n := o.p.Read[i].Real; under(real, n) && o.privateAt(n) != "" {
			return true
		}
	}
	for i := range o.p.Write {
		if n := o.p.Write[i].Real; n != "/" && under(real, n) {
			return true
		}
	}
	for i := range o.p.Mounts {
		if o.through(&o.p.Mounts[i], real) {
			return true
		}
	}
	return false
}

func (o *order) itsOwn(dir string) string {
	return odd(dir) + " private and empty (" + o.privateBy() + ")"
}

// privateBy is where the parent says what makes such directories private and hides
// secrets.
func (o *order) privateBy() string {
	if o.p.AccessMode.Guards() {
		return o.at("access_mode")
	}
	return orElse(o.at("filesystem.read"), o.at("sandbox.root"))
}

// GuardedBy is where the documents say what hides secrets and protects names.
func (r *Resolved) GuardedBy() string { return (&order{p: r}).privateBy() }

// unprotects is the protected name that writing real by name would open and
// parent keeps; "" for none.
func (o *order) unprotects(real string) string {
	if !o.p.Private || o.lists.Protected == nil {
		return ""
	}
	named := false
	best := ""
	inner := o.innerTrees(real)
	for i := range o.p.Write {
		w := &o.p.Write[i]
		if !under(real, w.Real) || slices.ContainsFunc(inner, func(t string) bool { return t != w.Real && under(t, w.Real) }) {
			continue
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(real, w.Real), "/")
		switch {
		case rel == "" || !o.lists.Protected(rel):
			named = true // by the parent itself, or nothing on the way is protected
		default:
			best = rel
		}
	}
	for _, t := range inner {
		if rel := strings.TrimPrefix(strings.TrimPrefix(real, t), "/"); rel != "" && o.lists.Protected(rel) && !inList(o.p.Write, t) {
			best = rel
		}
	}
	if named || best == "" {
		return ""
	}
	for _, g := range o.p.Globs {
		name := strings.TrimPrefix(g, "**/")
		for part := range strings.SplitSeq(best, "/") {
			if part == name {
				return ""
			}
		}
	}
	return best
}

// innerTrees are the parent's writable directories above real whose tops count though
// they may lie in a larger one: the working directory, and what mounts show.
func (o *order) innerTrees(real string) []string {
	return slices.DeleteFunc(o.p.tops(), func(t string) bool { return !under(real, t) })
}

// tops are the directories from whose tops protected names count in what narrows r.
func (r *Resolved) tops() []string {
	if !r.Private {
		return nil
	}
	all := slices.Clone(r.Tops)
	add := func(dir string) {
		if !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	if r.WritesWorkDir() {
		add(r.WorkingDir.Real)
	}
	for i := range r.Mounts {
		if m := &r.Mounts[i]; m.Mode == MountRW && m.Source.IsDir {
			add(m.Source.Real)
		}
	}
	return all
}
