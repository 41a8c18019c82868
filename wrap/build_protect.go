package wrap

import (
	"cmp"
	"slices"

	"sbx/spec"
	"sbx/wrap/defaults"
)

// protect makes those files in the writable trees read-only that could later run code on the host.
// Each directory that leads to one becomes a mount point, so that the command cannot rename it and
// make a new one.
func (b *guards) protect() {
	if !b.r.Private {
		return
	}
	spots := make([][]string, len(b.h.Protected)) // the places at which each protected name could be written
	for i := range b.h.Protected {
		if p := &b.h.Protected[i]; p.Shared || !b.allowed(p.Path) {
			spots[i] = b.writableImages(p.Path)
		}
	}
	for i := range b.h.Protected {
		p := b.h.Protected[i]
		switch {
		case len(spots[i]) == 0 || p.Shared && !b.leads(i, spots):
		case p.Link:
			b.fault(FieldProtected, Degraded, p.Path+" is a link: what it points to is protected, the link itself is not")
			b.plan.Watch.Protected = append(b.plan.Watch.Protected, p)
			b.plan.Watch.Unmade = append(b.plan.Watch.Unmade, p.Path) // so that no other file can take the link's place
		default:
			how := itemClosed
			if p.Shared {
				how = itemPinned
			} else {
				b.plan.Watch.Protected = append(b.plan.Watch.Protected, p)
			}
			for _, at := range spots[i] {
				b.add(item{how: how, path: at, soft: true, field: FieldProtected, why: p.Why, source: p.Path})
			}
		}
	}
	for _, repo := range b.h.Repositories {
		for _, other := range repo.Others {
			if b.allowed(other) {
				continue
			}
			for _, at := range b.writableImages(other) {
				b.add(item{how: itemClosed, path: at, soft: true, field: FieldProtected, why: "another worktree of the same repository", source: other})
				b.plan.Watch.Closed = append(b.plan.Watch.Closed, other)
			}
		}
	}
}

// leads reports whether a directory that would only be pinned leads to something protected; else it
// need not be pinned.
func (b *guards) leads(shared int, spots [][]string) bool {
	for j := range b.h.Protected {
		p := &b.h.Protected[j]
		if !p.Shared && len(spots[j]) > 0 && under(p.Path, b.h.Protected[shared].Path) {
			return true
		}
	}
	return false
}

// openedNames returns the protected names that the spec lists as writable, which opens them.
func (b *guards) openedNames() (names []string) {
	trees := b.trees()
	for _, w := range b.r.Write {
		if w.Field != "" && w.Field != FieldAgent && b.isProtected(w.Real, trees) {
			names = append(names, w.Real)
		}
	}
	return names
}

// isProtected reports whether path is, or lies in, a protected name of one of the writable trees.
func (b *guards) isProtected(path string, trees []string) bool {
	for _, tree := range trees {
		if path != tree && under(path, tree) {
			if _, ok := defaults.IsProtectedName(path[len(tree)+1:]); ok {
				return true
			}
		}
	}
	if b.isProtectedInGit(path, trees) {
		return true
	}
	for i := range b.h.Protected {
		if p := &b.h.Protected[i]; !p.Shared && under(path, p.Path) {
			return true
		}
	}
	return false
}

// trees returns the writable directories of the spec: the working directory and others that the
// spec lists, except those that are protected names themselves.
func (b *guards) trees() []string {
	var t []string
	for _, w := range b.writables() {
		if w.IsDir && !OpensGit(&w) {
			t = append(t, w.Real)
		}
	}
	for i := range b.binds {
		if m := &b.binds[i]; m.Mode == spec.MountRW && m.Source.IsDir && !b.isWritable(m.Source.Real) {
			t = append(t, m.Source.Real)
		}
	}
	return append(t, b.innerTrees()...)
}

// watch lists what the supervisor watches while the command runs.
func (b *guards) watch() {
	if b.plan.Base == BaseHost {
		return
	}
	w := &b.plan.Watch
	if b.r.Private {
		w.Trees = b.trees()
		b.layNames(w.Trees)
	}
	if len(w.Trees) > 0 {
		b.fault(FieldUnmade, b.unmadeStatus(), b.unmadeText())
		if why := b.h.SearchCut; why != "" {
			b.unprotected("the search for repositories was cut: " + why)
		}
		b.namedPrograms()
		for _, m := range b.h.Mounts {
			if b.isWritable(m.Path) && !slices.Contains(w.Trees, m.Path) {
				b.unprotected(m.Path + " is another file system, where none is looked for")
			}
		}
	}
	(&network{b.places}).sockets()
	w.Git = b.gitDirs()
	b.worktrees()
	w.Allowed = slices.Concat(b.named, b.r.Globs)
	for i := range b.h.Unmade {
		if p := b.h.Unmade[i].Path; !b.allowed(p) {
			w.Unmade = append(w.Unmade, p)
		}
	}
	b.views()
}

// unprotected reports that protected names, existing or not, are not fully protected.
func (b *draft) unprotected(why string) {
	b.fault(FieldProtected, Degraded, why)
	b.fault(FieldUnmade, Degraded, why)
}

// mountPoint makes sure that the target of m exists, so that m can be mounted.
func (b *layers) mountPoint(m *spec.MountAt) {
	kind := bindKind(m)
	source := b.view.At(m.Target).Source
	if source == "" && !b.there[m.Target] { // in a directory of the sandbox's own, or in an empty root
		b.target(m.Target, kind)
		return
	}
	why, help := "", "make it first, or choose another target"
	switch have := b.h.Kind(cmp.Or(source, m.Target)); {
	case have != Absent && (have == Dir) != (kind == Dir):
		why, help = "a "+kind.String()+" cannot be mounted on a "+have.String(), "choose another target"
	case have != Absent || source == "":
	case source != m.Target || b.onTop(parent(m.Target)) >= 0:
		why = source + " is not there, and sbx makes nothing in a directory of the host"
	default:
		if dir, rest := b.lacking(m.Target); rest == "" || !b.makeable(dir) {
			why = "it is not there, and sbx makes nothing in a writable directory of the host"
		}
	}
	if why != "" {
		b.problems = append(b.problems, &spec.Problem{Field: m.Field, On: m.At, Do: "mount at " + m.Target, Why: why, Help: help})
	}
}

// startDir decides where the command starts if its working directory is not in view.
func (b *builder) startDir() {
	if b.r.Job == nil && !b.seen(b.plan.Command.Dir) {
		b.plan.Command.Dir = "/"
	}
	if b.r.Job != nil && b.r.WorkingDir.Real == "" {
		b.plan.Command.Dir = "/work"
	}
}
