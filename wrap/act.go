package wrap

import (
	"slices"
	"strings"

	"sbx/internal/view"
	"sbx/wrap/defaults"
)

// Act is something that the command attempts at a path of its sandbox, or of the network.
type Act struct {
	Kind ActKind
	Path string // inside; a host and a port as network.allow has them
}

// ActKind is what an Act does there.
type ActKind uint8

// The kinds.
const (
	ToRead      ActKind = iota + 1 // what is there is read, listed or executed
	ToWrite                        // its content or metadata is changed
	ToMake                         // a file or directory is created there
	ToLink                         // a link or a socket is created there
	ToTake                         // the name is removed, moved away or replaced
	ToConnect                      // to a socket
	ToReach                        // a host is connected to, by TCP
	ToReachElse                    // likewise by another protocol
)

// CreateAct is that a path of the host, or a link there, came into being inside.
func (p *Plan) CreateAct(host string, link bool) Act {
	a := Act{ToMake, host}
	if link {
		a.Kind = ToLink
	}
	if images := p.View.Images(host); len(images) > 0 {
		a.Path = images[0]
	}
	return a
}

// Allows reports whether the sandbox lets an act be done. What the host's own
// permissions say is not asked.
func (p *Plan) Allows(a Act) bool {
	_, denied := p.denial(a)
	return !denied
}

// denial is the grant by which an act is denied, at its path or, for a name, in the
// directory that it is in.
func (p *Plan) denial(a Act) (g view.Grant, denied bool) {
	g = p.View.At(a.Path)
	switch {
	case p.Rung == RungFree:
		return g, false
	case a.Kind == ToConnect:
		return g, !slices.Contains(p.Watch.Sockets, a.Path)
	case a.Kind == ToRead:
		return g, g.Access < view.Read || g.Source == ""
	case !reaches(g):
		return g, true
	case a.Kind == ToWrite:
		return g, false
	}
	if a.Kind == ToTake && p.isMountPoint(a.Path) || p.Watch.forbids(g.Source, a.Kind) {
		return view.Grant{Access: view.Read, Source: g.Source, Protected: true, Because: view.Cause{Field: string(FieldProtected)}}, true
	}
	g = p.View.At(parent(a.Path))
	return g, !reaches(g)
}

// writes reports whether what is written at a path is written to the host.
func (p *Plan) writes(path string) bool { return p.Rung == RungFree || reaches(p.View.At(path)) }

// reaches reports whether what is written there is written to the host.
func reaches(g view.Grant) bool { return g.Access == view.Write && g.Source != "" && !g.Copied }

// isMountPoint reports whether something is mounted on a path, whose name can then
// neither be moved nor removed.
func (p *Plan) isMountPoint(path string) bool {
	at := p.Staged(path)
	return slices.ContainsFunc(p.Mounts, func(m Mount) bool {
		switch m.Op {
		case OpBind, OpPin, OpPlace, OpAttach, OpOverlay, OpTmpfs:
			return m.Target == at
		}
		return false
	})
}

// forbids reports whether a name of the host must not be created although its directory
// can be written: what is not there has no mount, and the supervisor denies it.
func (w *Watch) forbids(path string, k ActKind) bool {
	tree := w.treeOf(path)
	if tree == "" || opensName(w.Allowed, path) {
		return false
	}
	if slices.ContainsFunc(w.Unmade, func(unmade string) bool { return under(path, unmade) }) {
		return true
	}
	if in, ok := w.inGit(path); ok {
		return defaults.IsProtectedInGit(in) || defaults.LeadsInGit(in, true) || k == ToLink && !defaults.MayLink(in)
	}
	return k != ToMake && defaults.LeadsToProtected(strings.TrimPrefix(path, tree+"/"))
}

// inGit is a path of the host relative to the innermost git directory that it is in.
func (w *Watch) inGit(path string) (in string, ok bool) {
	if in, ok = defaults.InGitFolder(path); ok {
		return in, true
	}
	for _, git := range w.Git {
		if rest, inside := strings.CutPrefix(path, git+"/"); inside && (!ok || len(rest) < len(in)) {
			in, ok = rest, true
		}
	}
	return in, ok
}

// treeOf is the innermost writable tree that a path of the host is in; "" for none.
func (w *Watch) treeOf(path string) (tree string) {
	for _, t := range w.Trees {
		if len(t) > len(tree) && under(path, t) {
			tree = t
		}
	}
	return tree
}
