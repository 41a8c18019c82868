package wrap

import (
	"strings"

	"sbx/spec"
)

// protect makes read-only, in the writable trees, what makes the host run
// something later. Each folder on the way is a mount point, so that none can
// be renamed away and made anew.
func (b *builder) protect() {
	if !b.r.Private {
		return
	}
	keep := make([]bool, len(b.h.Protected))
	for i := range b.h.Protected {
		p := &b.h.Protected[i]
		keep[i] = !p.Shared && !b.allowed(p.Path) && b.inWritable(p.Path) && b.visible(p.Path)
	}
	for i := range b.h.Protected { // a folder on the way to nothing is left as it is
		p := &b.h.Protected[i]
		for j := range b.h.Protected {
			if p.Shared && keep[j] && !b.h.Protected[j].Shared && under(b.h.Protected[j].Path, p.Path) && b.inWritable(parent(p.Path)) {
				keep[i] = true
				break
			}
		}
	}
	for i := range b.h.Protected {
		p := b.h.Protected[i]
		switch {
		case !keep[i]:
		case p.Link:
			b.fault(FieldProtected, Degraded, p.Path+" is a link: what it points to is protected, the link itself is not")
		case p.Shared:
			b.op(Mount{Op: OpPin, Target: b.in(p.Path), Soft: true, For: FieldProtected, Why: p.Why})
		default:
			b.op(Mount{Op: OpBind, Source: b.in(p.Path), Target: b.in(p.Path), Mode: ModeRO, Soft: true, For: FieldProtected, Why: p.Why})
			b.plan.Watch.Protected = append(b.plan.Watch.Protected, p)
		}
	}
	for _, repo := range b.h.Repositories {
		for _, other := range repo.Others {
			if b.inWritable(other) && !b.allowed(other) {
				b.op(Mount{Op: OpBind, Source: b.in(other), Target: b.in(other), Mode: ModeRO, Soft: true, For: FieldProtected,
					Why: "another worktree of the same repository"})
			}
		}
	}
}

// allowed tells whether the spec writes a protected path: it names the path, or
// a protected name above it. Naming a folder that merely contains protected
// names opens none of them.
func (b *builder) allowed(path string) bool {
	for _, w := range b.r.Write {
		if w.Field != "" && under(path, w.Real) && b.isProtected(w.Real) {
			return true
		}
	}
	for _, g := range b.r.Globs {
		name := strings.TrimPrefix(g, "**/")
		if strings.Contains(path+"/", "/"+name+"/") {
			return true
		}
	}
	return false
}

// isProtected tells whether path is, or lies in, a protected name of one of
// the writable trees.
func (b *builder) isProtected(path string) bool {
	for _, tree := range b.trees() {
		if path != tree && under(path, tree) {
			if _, ok := IsProtectedName(path[len(tree)+1:]); ok {
				return true
			}
		}
	}
	for i := range b.h.Protected {
		if p := &b.h.Protected[i]; !p.Shared && under(path, p.Path) {
			return true
		}
	}
	return false
}

// trees are the writable folders of the spec: the working directory and what
// filesystem.write names, but for protected names themselves.
func (b *builder) trees() []string {
	var t []string
	for _, w := range b.writables() {
		if w.IsDir {
			t = append(t, w.Real)
		}
	}
	if j := b.r.Job; j != nil && j.Output.Real != "" {
		t = append(t, j.Output.Real)
	}
	return t
}

// ownRecord keeps the record out of the sandbox's reach where its place can be
// seen inside: the file is masked and, where the folders above can be written,
// they become mount points that cannot be renamed.
func (b *builder) ownRecord() {
	path := b.req.Record
	if path == "" || !b.visible(path) {
		return
	}
	for i := 1; i < len(path); i++ {
		if dir := path[:i]; path[i] == '/' && b.inWritable(dir) && (!b.restricted() || b.inWritable(parent(dir))) {
			b.op(Mount{Op: OpPin, Target: b.in(dir), For: FieldRecord, Why: "the record lies beneath"})
		}
	}
	b.op(Mount{Op: OpPlace, Slot: slotNone, Target: b.in(path), Mode: ModeRO, For: FieldRecord, Why: "the record"})
	b.masked = append(b.masked, path)
	b.plan.Watch.Record = path
}

// watch says what the supervisor looks after.
func (b *builder) watch() {
	if !b.r.Private || b.plan.Base == BaseHost {
		return
	}
	w := &b.plan.Watch
	w.Trees = b.trees()
	for _, p := range b.r.Write {
		if p.Field != "" && b.isProtected(p.Real) {
			w.Allowed = append(w.Allowed, p.Real)
		}
	}
	w.Allowed = append(w.Allowed, b.r.Globs...)
	for i := range b.h.Unmade {
		if p := b.h.Unmade[i].Path; !b.allowed(p) {
			w.Unmade = append(w.Unmade, p)
		}
	}
	if len(w.Trees) > 0 {
		b.fault(FieldProtected, Degraded, "a protected name that does not exist yet is not refused but noticed and moved away"+
			b.cut()+"; a socket that is made outside after the launch can be connected to by its path")
	}
}

func (b *builder) cut() string {
	if b.h.SearchCut == "" {
		return ""
	}
	return " (the search for repositories was cut: " + b.h.SearchCut + ")"
}

// mountPoint makes sure that there is something to mount m on.
func (b *builder) mountPoint(m *spec.MountAt, kind Kind) {
	dir, rest := b.lacking(m.Target)
	switch {
	case rest == "" && (b.prefix == "" || b.whole) && !b.covered(m.Target):
		return // it is there
	case rest != "" && dir != "/":
		if !b.makeable(dir) {
			b.problems = append(b.problems, &spec.Problem{Field: m.Field, On: m.At, Do: "mount at " + m.Target,
				Why: "it is not there, and sbx makes nothing in a writable folder of the host", Help: "make it first, or choose another target"})
		}
		return
	}
	b.target(m.Target, kind)
}

// finish seals an empty root and goes there, or uncovers the folder that the
// scratch tmpfs was put together in.
func (b *builder) finish() {
	at := b.scratchAt()
	switch {
	case b.prefix != "":
		b.op(Mount{Op: OpSeal, Target: b.prefix, Why: "the new root itself is nobody's to write"})
		b.op(Mount{Op: OpPivot, Target: b.prefix})
	case !b.isPrivate(at):
		b.op(Mount{Op: OpUncover, Target: at})
	}
	if b.r.Job == nil && !b.seen(b.plan.Command.Dir) {
		b.plan.Command.Dir = "/"
	}
	if b.r.Job != nil && b.r.WorkingDir.Real == "" {
		b.plan.Command.Dir = "/work"
	}
}

func (b *builder) isPrivate(dir string) bool {
	for _, p := range b.private {
		if p == dir {
			return true
		}
	}
	return false
}

// seen tells whether a folder or file of the host can be seen at its own path
// in the finished sandbox.
func (b *builder) seen(path string) bool {
	if b.visible(path) {
		return true
	}
	for i := range b.r.Mounts { // a mount's target is there, whatever it shows
		if b.r.Mounts[i].Target == path {
			return true
		}
	}
	return false
}
