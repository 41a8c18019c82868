package world

import (
	"slices"
	"strings"

	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
)

// homeLayer examines an agent's home as Probe does.
func (w *World) homeLayer(h *wrap.Host, r *spec.Resolved) {
	if !r.HomeLayer {
		return
	}
	real, err := spec.Real(r.Home, w)
	if err != nil || w.Nodes[real].Kind != wrap.Dir {
		return
	}
	h.HomeReal, h.HomeMode = real, 0o755
	for i := range r.Own {
		if o := &r.Own[i]; o.Mode == spec.OwnRead && o.Exists && !o.IsDir {
			w.look(h, o.Real)
		}
	}
	if h.Overlay.State == wrap.No || h.Layer.State == wrap.No {
		w.ListAll(h, real)
	}
}

// locked protects the agent's own locked paths that lie in a writable one.
func (w *World) locked(h *wrap.Host, r *spec.Resolved) {
	tree := func(p string) (top string) {
		for _, t := range r.Write {
			if t.Exists && t.IsDir && p != t.Real && view.Within(p, t.Real) && (top == "" || len(t.Real) < len(top)) {
				top = t.Real
			}
		}
		return top
	}
	for i := range r.Own {
		o := &r.Own[i]
		top := tree(o.Real)
		if o.Mode != spec.OwnLocked || top == "" {
			continue
		}
		p := wrap.Protected{Path: o.Real, Kind: w.Nodes[o.Real].Kind, Why: "an agent on the host runs what it says"}
		if p.Kind == wrap.Absent {
			h.Unmade = append(h.Unmade, p)
			continue
		}
		h.Protected = append(h.Protected, p)
		for dir := view.Parent(o.Real); dir != top; dir = view.Parent(dir) {
			h.Protected = append(h.Protected, wrap.Protected{Path: dir, Kind: wrap.Dir, Shared: true, Why: "on the way"})
		}
	}
	slices.SortStableFunc(h.Protected, func(a, b wrap.Protected) int { return strings.Compare(a.Path, b.Path) })
	h.Protected = slices.CompactFunc(h.Protected, func(a, b wrap.Protected) bool { return a.Path == b.Path })
}

// treeLine reads a fact about the trees in which a command works, and about what its agent needs.
func (w *World) treeLine(word, first, more string) bool {
	switch f := strings.Fields(first + " " + more); word {
	case "own": // own read|write|locked PATH: a path that the command's agent needs
		if w.in.Agent == nil {
			w.in.Agent = &spec.AgentNeeds{Agent: spec.Codex}
		}
		if strings.Contains(more, "/.claude") {
			w.in.Agent.Agent = spec.Claude
		}
		if mode := map[string]spec.OwnMode{"read": spec.OwnRead, "write": spec.OwnWrite, "locked": spec.OwnLocked}[first]; mode != 0 {
			w.in.Agent.Files = append(w.in.Agent.Files, spec.OwnFile{Path: more, Mode: mode})
		}
	case "copied": // copied DIR WHY: a directory that a copy may cover, in a run that learns writes
		w.in.Learn = true
		w.Host.Layers = append(w.Host.Layers, wrap.Layer{Dir: first, Mode: 0o755, Why: more})
	case "worktree": // worktree TOP GITDIR COMMON OTHER
		w.repos = append(w.repos, wrap.Repository{Top: f[0], GitDir: f[1], Common: f[2], Others: f[3:], Outside: true})
	case "other": // other PATH: another user's home, with a secret
		w.Add(first+"/.netrc", Node{Kind: wrap.File})
		w.others = append(w.others, first)
	case "around": // around TOP: a repository that contains a writable tree
		w.around = append(w.around, first)
	case "admin": // admin ADMIN DOT…
		w.Host.Worktrees = append(w.Host.Worktrees, wrap.Worktree{Admin: f[0], Dots: f[1:]})
	default:
		return false
	}
	return true
}
