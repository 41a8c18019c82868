package world

import (
	"maps"
	"path"
	"slices"
	"strings"

	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// Probed returns the Host as Probe makes it for r.
func (w *World) Probed(r *spec.Resolved) *wrap.Host {
	h := w.Host
	r = wrap.WithOwn(r)
	h.Home, h.Users = r.Home, []int{h.UID}
	if r.Network != spec.NetworkHost {
		for _, p := range w.sorted() {
			if w.Nodes[p].Kind == wrap.Socket && w.inView(r, p) && !Named(r, p, p) {
				h.Sockets = append(h.Sockets, wrap.Found{Path: p, Real: p, Kind: wrap.Socket})
			}
		}
	}
	if !r.FileRules && !r.SideDoors {
		h.Removable, h.Mounts = nil, nil
		return &h
	}
	w.programs(&h, r)
	h.Paths = map[string]wrap.Kind{}
	for _, p := range defaults.ProbedPaths() {
		w.look(&h, p)
	}
	w.look(&h, r.Home)
	for i := range h.Mounts {
		if m := &h.Mounts[i]; m.Kernels() {
			w.look(&h, m.Path)
		}
	}
	w.targets(&h, r)
	w.homeLayer(&h, r)
	h.Keep, h.Devices = w.rows(defaults.RunKept()), w.rows(defaults.Devices())
	if h.UID == 0 {
		h.ProcRO, h.ProcMask = w.names(defaults.ProcReadOnly()), w.names(defaults.ProcMasked())
	}
	if r.System {
		h.System = w.rows(defaults.System())
	}
	if r.Private {
		w.secrets(&h, r)
		for _, s := range h.Secrets {
			if s.Kind != wrap.Dir || s.Target != "" {
				w.list(&h, view.Parent(s.Path))
			}
		}
		h.Repositories, h.Around = w.repos, w.around
		w.protected(&h, r)
		w.locked(&h, r)
	}
	return &h
}

func (w *World) sorted() []string { return slices.Sorted(maps.Keys(w.Nodes)) }

func (w *World) look(h *wrap.Host, p string) {
	if n, ok := w.Nodes[p]; ok {
		h.Paths[p] = n.Kind
	}
}

// targets examines the targets of mounts, and lists directories as Probe does.
func (w *World) targets(h *wrap.Host, r *spec.Resolved) {
	w.look(h, "/sys")
	for i := range r.Mounts {
		p := r.Mounts[i].Target
		w.look(h, p)
		for p != "/" && h.Paths[p] == wrap.Absent {
			p = view.Parent(p)
			w.look(h, p)
		}
		if h.Paths[r.Mounts[i].Target] == wrap.Absent {
			w.list(h, p)
		}
		for _, m := range r.Mounts {
			if t := r.Mounts[i].Target; t != m.Target && view.Within(t, m.Target) {
				w.look(h, m.Source.Real+t[len(m.Target):])
			}
		}
		w.look(h, r.Root.Real+r.Mounts[i].Target)
	}
	if slices.ContainsFunc(r.Read, func(p spec.Path) bool { return p.Real == "/" }) {
		w.list(h, "/")
	}
	if r.Root.Real != "" {
		w.ListAll(h, r.Root.Real)
	}
	for i := range r.Hide {
		if host, mapped := r.Outside(r.Hide[i].Abs); mapped {
			w.look(h, host)
		}
		if p := &r.Hide[i]; p.Exists && !p.IsDir {
			w.list(h, view.Parent(p.Real))
		}
	}
}

func (w *World) list(h *wrap.Host, dir string) {
	if !w.large[dir] || h.Overlay.State == wrap.No {
		w.ListAll(h, dir)
	}
}

// ListAll lists a directory in h, as Probe does if no overlay can be laid.
func (w *World) ListAll(h *wrap.Host, dir string) {
	if slices.ContainsFunc(h.Listing, func(l wrap.Listing) bool { return l.Dir == dir }) || w.Nodes[dir].Kind != wrap.Dir {
		return
	}
	l := wrap.Listing{Dir: dir, Mode: 0o755}
	for p, n := range w.Nodes {
		if p != "/" && view.Parent(p) == dir {
			l.Entries = append(l.Entries, wrap.Entry{Name: path.Base(p), Kind: n.Kind, Target: n.target})
		}
	}
	slices.SortFunc(l.Entries, func(a, b wrap.Entry) int { return strings.Compare(a.Name, b.Name) })
	h.Listing = append(h.Listing, l)
}

// find returns the file at p, with links followed; ok is false if there is none.
func (w *World) find(p, why string) (wrap.Found, bool) {
	dir, err := spec.Real(view.Parent(p), w)
	if err != nil {
		return wrap.Found{}, false
	}
	at := view.Join(dir, path.Base(p))
	n, ok := w.Nodes[at]
	f := wrap.Found{Path: p, Real: at, Kind: n.Kind, Why: why}
	if n.Kind == wrap.Symlink {
		f.Target = n.target
		if f.Real, err = spec.Real(p, w); err != nil {
			return wrap.Found{}, false
		}
		f.Kind = w.Nodes[f.Real].Kind
	}
	return f, ok
}

func (w *World) rows(table []defaults.Row) (found []wrap.Found) {
	for _, row := range table {
		if f, ok := w.find(row.Path, row.Why); ok {
			found = append(found, f)
		}
	}
	return found
}

func (w *World) names(table []defaults.Row) (names []string) {
	for _, row := range table {
		if w.Nodes["/proc/"+row.Path].Kind != wrap.Absent {
			names = append(names, row.Path)
		}
	}
	return names
}

// Named reports whether the document names a path.
func Named(r *spec.Resolved, p, real string) bool {
	for _, l := range [][]spec.Path{r.Read, r.Write} {
		for _, n := range l {
			if n.Field != "" && (n.Abs == p || n.Real == p || n.Abs == real || n.Real == real) {
				return true
			}
		}
	}
	return false
}

// inView reports whether p shows inside, as far as private directories decide.
func (w *World) inView(r *spec.Resolved, p string) bool {
	private := false
	for _, row := range defaults.PrivateDirs() {
		private = private || view.Within(p, row.Path)
	}
	if !r.Private || !private {
		return true
	}
	for _, l := range [][]spec.Path{r.Read, r.Write, {r.WorkingDir}} {
		for _, n := range l {
			if view.Within(p, n.Real) {
				return true
			}
		}
	}
	for _, m := range r.Mounts {
		if m.Source.Real != "" && view.Within(p, m.Source.Real) {
			return true
		}
	}
	return false
}
