package world

import (
	"path"
	"slices"
	"strings"

	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

func (w *World) secrets(h *wrap.Host, r *spec.Resolved) {
	homes := []string{r.Home}
	if h.UID == 0 {
		homes = []string{"/root", "/home/u"}
		homes = append(homes, w.otherHomes(h, r)...)
	}
	for _, s := range defaults.Secrets() {
		at := []string{s.Path}
		if rest, ok := strings.CutPrefix(s.Path, "~/"); ok {
			at = at[:0]
			for _, home := range homes {
				at = append(at, home+"/"+rest)
			}
		}
		if strings.Contains(s.Path, "*") {
			at = w.matches(at)
		}
		for _, p := range at {
			f, ok := w.find(p, s.Why)
			if !ok || s.Root && h.UID != 0 || s.DirOnly && (f.Target != "" || f.Kind != wrap.Dir) || Named(r, p, f.Real) || !w.inView(r, p) {
				continue
			}
			f.Path = f.Real
			h.Secrets = append(h.Secrets, f)
		}
	}
	slices.SortStableFunc(h.Secrets, func(a, b wrap.Found) int { return strings.Compare(a.Path, b.Path) })
}

// matches lists the paths that match one of some patterns.
func (w *World) matches(globs []string) (found []string) {
	for _, glob := range globs {
		start, _, _ := strings.Cut(glob, "*")
		for p := range w.Nodes {
			if strings.HasPrefix(p, start) {
				if is, _ := path.Match(glob, p); is {
					found = append(found, p)
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

// otherHomes hides the homes of others whole, but for those that it gives.
func (w *World) otherHomes(h *wrap.Host, r *spec.Resolved) (needed []string) {
next:
	for _, home := range w.others {
		for _, l := range [][]spec.Path{r.Read, r.Write, {r.WorkingDir}} {
			for _, p := range l {
				if p.Real != "/" && (view.Within(p.Real, home) || view.Within(home, p.Real)) {
					needed = append(needed, home)
					continue next
				}
			}
		}
		h.Secrets = append(h.Secrets, wrap.Found{Path: home, Real: home, Kind: wrap.Dir, Why: defaults.OtherHome, Home: true})
	}
	if len(h.Secrets) > wrap.FewHomes {
		w.ListAll(h, "/home")
	}
	return needed
}

// protected finds the protected names by their tables alone.
func (w *World) protected(h *wrap.Host, r *spec.Resolved) {
	var trees []string
	if r.WorkingDir.Real != "" && !r.ReadOnly {
		for _, p := range r.Write {
			if p.Exists && p.IsDir && !slices.ContainsFunc(trees, func(t string) bool { return view.Within(p.Real, t) }) {
				trees = append(trees, p.Real)
			}
		}
	}
	for _, repo := range w.repos {
		trees = append(trees, repo.Common)
	}
	inner := func(p string) bool {
		return slices.ContainsFunc(r.Write, func(o spec.Path) bool {
			return o.Field == wrap.FieldAgent && view.Within(p, o.Real) && !slices.Contains(trees, o.Real)
		})
	}
	shared := map[string]bool{}
	for _, p := range w.sorted() {
		for _, tree := range trees {
			if p == tree || !view.Within(p, tree) || inner(p) {
				continue
			}
			rel := p[len(tree)+1:]
			if path.Base(tree) == ".git" {
				rel = ".git/" + rel
			}
			row, ok := defaults.IsProtectedName(rel)
			if !ok || rel == ".git" && w.Nodes[p].Kind == wrap.Dir || strings.HasSuffix(rel, "/.git") && w.Nodes[p].Kind == wrap.Dir ||
				slices.ContainsFunc(h.Protected, func(o wrap.Protected) bool { return view.Within(p, o.Path) }) {
				continue
			}
			h.Protected = append(h.Protected, wrap.Protected{Path: p, Kind: w.Nodes[p].Kind, Why: row.Why, Link: w.Nodes[p].Kind == wrap.Symlink})
			for dir := view.Parent(p); dir != tree && view.Within(dir, tree); dir = view.Parent(dir) {
				shared[dir] = true
			}
		}
	}
	for dir := range shared {
		h.Protected = append(h.Protected, wrap.Protected{Path: dir, Kind: wrap.Dir, Shared: true, Why: "on the way"})
	}
	slices.SortFunc(h.Protected, func(a, b wrap.Protected) int { return strings.Compare(a.Path, b.Path) })
	h.Protected = slices.CompactFunc(h.Protected, func(a, b wrap.Protected) bool { return a.Path == b.Path })
}
