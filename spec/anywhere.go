package spec

import (
	"slices"
	"strconv"
	"strings"
)

// Limits of items of filesystem.hide such as "**/*.pem": their number, since each needs a search, and
// the number of paths that one matches, since each needs a mount.
const (
	maxAnywhere = 1024
	maxNamed    = 1024
)

// IsNamed reports whether a name matches glob, an item of filesystem.hide such as "**/*.pem".
func IsNamed(glob, name string) bool {
	before, after, star := strings.Cut(strings.TrimPrefix(glob, Anywhere), "*")
	if !star {
		return name == before
	}
	return len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
}

// hideAnywhere hides the files with a name in the directories in which the command works. It does not
// cover files that get such a name later.
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

// worksIn returns the directories in which names are searched: the working directory, the writable
// paths, and those of the workshop, the job layout and the mounts; never the root directory.
func (r *resolver) worksIn() (tops []string) {
	out := &r.out
	all := append(slices.Clone(out.Write), out.WorkingDir, out.Restricted)
	for i := range out.Mounts {
		all = append(all, out.Mounts[i].Source)
	}
	if out.Job != nil {
		all = append(all, out.Job.Input, out.Job.Output)
	}
	slices.SortFunc(all, func(a, b Path) int { return strings.Compare(a.Real, b.Real) }) // a directory comes before its contents
	for i := range all {
		p := &all[i]
		held := slices.ContainsFunc(tops, func(top string) bool { return under(p.Real, top) })
		if p.IsDir && p.Exists && p.Real != "/" && p.Real != "" && !r.inJob(p.Abs) && !held {
			tops = append(tops, p.Real)
		}
	}
	return tops
}

// keepHidden keeps the paths hidden that parent hides by a name at any depth: r may work in fewer
// directories, so that its own search does not find them.
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
