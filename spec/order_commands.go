package spec

import (
	"slices"
	"strings"
)

func commandsAllow(o *order) {
	p, c := o.p, o.c
	if p.Limited && !c.Limited {
		o.wider(o.f, "any program", "only what is named", p.origin(o.f))
		return
	}
	for i := range c.Allow {
		a := &c.Allow[i]
		why := ""
		switch {
		case p.Limited && !o.hasProgram(p.Allow, a, p, c) && named(p.Allow, a):
			o.otherProgram(a)
		case p.Limited && !o.hasProgram(p.Allow, a, p, c):
			why = by("the parent does not allow it", p.origin(o.f))
		case !a.Path.IsDir && (named(p.Deny, a) || o.hasProgram(p.Deny, a, p, c)):
			why = by("the parent denies it", p.origin("commands.deny"))
		}
		if why != "" {
			o.problems = append(o.problems, &Problem{Field: a.Field, On: a.At, Do: "start " + odd(a.Asked), Why: why, Help: NarrowHelp})
		}
	}
}

func commandsDeny(o *order) {
	p, c := o.p, o.c
	for i := range p.Deny {
		switch d := &p.Deny[i]; {
		case p.Limited && !c.Limited: // reported by commandsAllow
		case o.hasProgram(c.Deny, d, c, p), named(c.Deny, d) && len(o.places(p, d.Name)) == 0:
		case named(c.Deny, d):
			o.otherProgram(d)
		default:
			o.wider(o.f, odd(d.Asked)+" started", "it denied", d.At)
		}
	}
}

// named reports whether a list has an entry with the name of a.
func named(list []ProgramAt, a *ProgramAt) bool {
	return a.Name != "" && slices.ContainsFunc(list, func(h ProgramAt) bool { return h.Name == a.Name })
}

// otherProgram rejects a child in which a name of the parent's list leads to another file, because
// of the child's PATH or its mounts.
func (o *order) otherProgram(a *ProgramAt) {
	files := func(r *Resolved) string {
		all := o.places(r, a.Name)
		for i := range all {
			all[i] = odd(all[i])
		}
		return orElse(strings.Join(all, ", "), "nothing")
	}
	f := Field("filesystem.mounts")
	if o.p.searchPath() != o.c.searchPath() {
		if f = "environment.set"; o.c.Spec.Environment.Value.Set.Value["PATH"] == "" {
			f = "environment.pass"
		}
	}
	o.problems = append(o.problems, &Problem{Field: f, On: o.on(f), Do: "have " + odd(a.Name) + " mean " + files(o.c),
		Why: "the parent has it mean " + files(o.p) + " (" + o.p.origin(o.f) + ")", Help: "leave PATH and what lies in its directories as the parent has them"})
}

// hasProgram reports whether the entries has of the document hasIn include every file to which the
// entry a of the document aIn may lead. Each document's names are looked up along the PATH of its
// own command.
func (o *order) hasProgram(has []ProgramAt, a *ProgramAt, hasIn, aIn *Resolved) bool {
	files := []string{a.Path.Real}
	if a.Name != "" {
		named := named(has, a)
		if named && hasIn.looksUpLike(aIn) {
			return true
		}
		files = o.places(aIn, a.Name)
		if named && slices.Equal(files, o.places(hasIn, a.Name)) {
			return true
		}
	}
	for _, file := range files {
		if !slices.ContainsFunc(has, func(h ProgramAt) bool { return o.leadsTo(hasIn, &h, file) }) {
			return false
		}
	}
	return len(files) > 0
}

// leadsTo reports whether an entry of a document leads to a file. A name in commands.allow stands
// for the first file found along PATH, a name in commands.deny for all of them.
func (o *order) leadsTo(in *Resolved, h *ProgramAt, file string) bool {
	if h.Name == "" {
		return h.Path.Real == file || h.Path.IsDir && under(file, h.Path.Real)
	}
	places := o.places(in, h.Name)
	if strings.HasPrefix(string(h.Field), "commands.deny") {
		return slices.Contains(places, file)
	}
	return len(places) > 0 && places[0] == file
}

// looksUpLike reports whether a name leads to the same files in both documents.
func (r *Resolved) looksUpLike(other *Resolved) bool {
	return r.searchPath() == other.searchPath() && r.WorkingDir.Abs == other.WorkingDir.Abs &&
		slices.EqualFunc(r.Mounts, other.Mounts, func(x, y MountAt) bool { return x.Target == y.Target && x.Source.Real == y.Source.Real })
}

// searchPath returns the PATH of the command's environment.
func (r *Resolved) searchPath() string {
	for _, v := range r.Env {
		if dirs, ok := strings.CutPrefix(v, "PATH="); ok && dirs != "" {
			return dirs
		}
	}
	return "/bin:/usr/bin" // execvp(3)
}

// places returns the files to which a name may lead along PATH, in order and without duplicates, with
// links resolved.
func (o *order) places(r *Resolved, name string) (all []string) {
	for dir := range strings.SplitSeq(r.searchPath(), ":") {
		path := dir + "/" + name
		if dir == "" || dir[0] != '/' {
			path = joinPath(r.WorkingDir.Abs, "./"+path)
		}
		host, _ := r.Outside(clean(path))
		at, err := resolvePath(o.in.Paths, host)
		if err == nil && at.Exists && !at.IsDir && !slices.Contains(all, at.Real) {
			all = append(all, at.Real)
		}
	}
	return all
}
