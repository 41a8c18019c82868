package wrap

import (
	"slices"
	"strings"

	"sbx/internal/view"
	"sbx/wrap/defaults"
)

// Act is an attempt of the command to use a path of its sandbox, or the network.
type Act struct {
	Kind ActKind
	Path string // a path inside, or a host and a port in the form of network.allow
}

// ActKind is the kind of an Act.
type ActKind uint8

// These are the kinds of acts.
const (
	ToRead      ActKind = iota + 1 // to read, list or execute a file
	ToWrite                        // to change a file's content or metadata
	ToMake                         // to create a file or directory
	ToLink                         // to create a link or a socket
	ToTake                         // to remove, move away or replace a name
	ToConnect                      // to connect to a socket
	ToReach                        // to connect to a host by TCP
	ToReachElse                    // to connect to a host by another protocol
)

// CreateAct returns the act of creating a file, or a link, inside at a path of the host.
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

// Allows reports whether the sandbox allows an act, whatever the host's own permissions say.
func (p *Plan) Allows(a Act) bool {
	_, denied := p.denial(a)
	return !denied
}

// denial returns the grant because of which an act is denied: that of its path or, for an act on a
// name, that of the directory.
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

// writes reports whether a write to a path inside reaches the host.
func (p *Plan) writes(path string) bool { return p.Rung == RungFree || reaches(p.View.At(path)) }

// reaches reports whether a write under a grant reaches the host.
func reaches(g view.Grant) bool { return g.Access == view.Write && g.Source != "" && !g.Copied }

// isMountPoint reports whether something is mounted on a path. The kernel refuses to move or remove
// such a name.
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

// forbids reports whether the supervisor denies the creation of a name of the host, although the
// directory is writable: no mount can protect a name that does not exist.
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

// inGit returns a path of the host relative to the innermost git directory that contains it.
func (w *Watch) inGit(path string) (in string, ok bool) {
	if in, ok = defaults.InGitDir(path); ok {
		return in, true
	}
	for _, git := range w.Git {
		if rest, inside := strings.CutPrefix(path, git+"/"); inside && (!ok || len(rest) < len(in)) {
			in, ok = rest, true
		}
	}
	return in, ok
}

// treeOf returns the innermost writable tree that contains a path of the host; "" for none.
func (w *Watch) treeOf(path string) (tree string) {
	for _, t := range w.Trees {
		if len(t) > len(tree) && under(path, t) {
			tree = t
		}
	}
	return tree
}
