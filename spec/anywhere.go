package spec

import (
	"slices"
	"strconv"
	"strings"
)

// Bounds of the items of filesystem.hide as "**/*.pem": how many there may be, since
// each is a search, and how many paths one may stand for, since each is a mount.
const (
	maxAnywhere = 1024
	maxNamed    = 1024
)

// IsNamed tells whether a name is one that glob, an item of filesystem.hide as
// "**/*.pem", stands for.
func IsNamed(glob, name string) bool {
	before, after, star := strings.Cut(strings.TrimPrefix(glob, Anywhere), "*")
	if !star {
		return name == before
	}
	return len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
}

// hideAnywhere hides what has a name in what the command works in. What comes to have
// it later is the command's own, or another program's.
func (r *resolver) hideAnywhere(f Field, glob string) {
	if r.in.Find == nil {
		r.refuse(f, "hide "+odd(glob), "nobody looks for names here", "name the paths")
		return
	}
	if r.anywhere++; r.anywhere > maxAnywhere {
		if r.anywhere == maxAnywhere+1 {
			r.refuse(f, "hide "+odd(glob), "more than "+strconv.Itoa(maxAnywhere)+" names are to be looked for at any depth", "name the directories that they lie in")
		}
		return
	}
	found := 0
	for _, top := range r.worksIn() {
		paths, why := r.in.Find(top, glob)
		if found += len(paths); found > maxNamed {
			r.refuse(f, "hide "+odd(glob), "more than "+strconv.Itoa(maxNamed)+" paths have such a name", "name the directories that they lie in")
			return
		}
		for _, path := range paths {
			p, err := resolvePath(r.in.Paths, path)
			p.Asked, p.Field, p.At = glob, f, r.at(f)
			if err != nil {
				p.Exists = false
			}
			r.out.Hide = append(r.out.Hide, p)
		}
		if why == "" {
			continue
		}
		if !r.out.AllowsLess("filesystem.hide") {
			r.refuse(f, "hide "+odd(glob), why, "start in a smaller directory, name the paths, or list \"filesystem.hide\" in best_effort")
			return
		}
		r.out.HideCut = why
	}
	r.note("filesystem.hide", glob+" matched "+strconv.Itoa(found)+" paths at the start; one that gets such a name later is in view")
}

// worksIn are the directories that a name at any depth is looked for in: the working
// directory, what may be written, what a workshop, the job layout and mounts show. The
// whole root is none of them.
func (r *resolver) worksIn() (tops []string) {
	out := &r.out
	all := append(slices.Clone(out.Write), out.WorkingDir, out.Restricted)
	for i := range out.Mounts {
		all = append(all, out.Mounts[i].Source)
	}
	if out.Job != nil {
		all = append(all, out.Job.Input, out.Job.Output)
	}
	slices.SortFunc(all, func(a, b Path) int { return strings.Compare(a.Real, b.Real) }) // what holds another comes first
	for i := range all {
		p := &all[i]
		held := slices.ContainsFunc(tops, func(top string) bool { return under(p.Real, top) })
		if p.IsDir && p.Exists && p.Real != "/" && p.Real != "" && !r.inJob(p.Abs) && !held {
			tops = append(tops, p.Real)
		}
	}
	return tops
}

// keepHidden hides what a document that this one narrows hides by a name at any depth:
// this one may work in less, and shows all of it.
func (r *Resolved) keepHidden(parent *Resolved) {
	for _, h := range parent.Hide {
		if strings.HasPrefix(h.Asked, Anywhere) && !hides(r, h.Real) {
			r.Hide = append(r.Hide, h)
		}
	}
	if r.HideCut == "" {
		r.HideCut = parent.HideCut
	}
}
