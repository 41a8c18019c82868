package wrap

import (
	"slices"

	"sbx/internal/view"
	"sbx/spec"
)

// maskSecrets lays the empty directory or file over what is hidden and has no
// name to hide: secret directories, sockets, removable media, and files in trees
// that stay themselves because they are writable.
func (b *guards) maskSecrets() {
	if b.h.SecretsCut != "" {
		b.fault(FieldSecrets, Degraded, b.h.SecretsCut)
	}
	for _, s := range b.h.Secrets {
		switch s.Kind {
		case Absent: // a link that leads nowhere
		case Other:
			if b.inWritable(parent(s.Path)) {
				b.fault(FieldSecrets, Degraded, s.Path+" is a link in a writable directory to more than can be hidden")
			}
		default:
			b.maskImages(s.Real, s.Kind, FieldSecrets, s.Why)
		}
	}
	for _, s := range b.h.Sockets {
		if !b.names(s.Real) {
			b.maskImages(s.Real, Socket, "network", s.Why)
		}
	}
	for _, s := range b.h.Services {
		b.maskImages(s.Real, Socket, b.modeField(), s.Why)
	}
	for _, m := range b.h.Removable {
		if !b.names(m) {
			b.maskImages(m, Dir, FieldSecrets, "a removable medium")
		}
	}
	b.maskKernels()
}

// maskImages masks a path wherever it shows, which what is opened does not: a directory
// of the sandbox's own stands there. A file that is masked shows again when the host
// replaces it, unlike one whose name is hidden, and the line of its field says so.
func (b *guards) maskImages(path string, k Kind, f spec.Field, why string) {
	for _, image := range b.images(path) {
		b.maskAt(image, path, k, f, why)
	}
}

// maskAt masks one image of a path of the host.
func (b *guards) maskAt(image, path string, k Kind, f spec.Field, why string) {
	if b.restricted() { // a directory above could be renamed, and the next run would see what is in it
		b.pinsAbove(path, image)
	}
	b.add(item{how: itemMasked, path: image, kind: k, soft: true, field: f, why: why, source: path})
	if k == File {
		b.plan.Watch.Masked = append(b.plan.Watch.Masked, path)
		b.fault(f, Degraded, image+" is masked: when the host replaces it, it shows until it is masked again")
	}
}

func (b *guards) mask(path string, k Kind, f spec.Field) {
	b.add(item{how: itemMasked, path: path, kind: k, soft: true, field: f})
}

// hide carries out filesystem.hide, but for the files whose names are hidden.
func (b *guards) hide() {
	if b.r.HideCut != "" {
		b.fault("filesystem.hide", Degraded, b.r.HideCut)
	}
	for _, p := range b.r.Hide {
		b.hideInBind(p)
		if !p.Exists {
			b.hideTargets(p)
			b.tellNothingHidden(p)
			continue
		}
		if under(p.Real, "/proc") || b.ownDev(p.Real) {
			b.mask(p.Real, pathKind(p), "filesystem.hide") // the sandbox's own has it, too
			continue
		}
		for _, image := range b.allImages(p.Real) {
			kind := pathKind(p)
			if g := b.view.At(image); g.Source != p.Real { // what shows is under it
				kind = pathKind(spec.Path{IsDir: !g.File})
			}
			b.maskAt(image, p.Real, kind, "filesystem.hide", "")
		}
		b.hideTargets(p)
	}
}

// tellNothingHidden says that a path of filesystem.hide is not there, and stays in view if
// it comes to be. A document may be for many hosts, and only its line has it; who typed
// the path for this run is told.
func (b *guards) tellNothingHidden(p spec.Path) {
	if slices.ContainsFunc(b.binds, func(m spec.MountAt) bool { return under(m.Target, p.Abs) || under(m.Target, p.Real) }) {
		return
	}
	text := "nothing is at " + p.Abs + " to hide"
	b.fault("filesystem.hide", Enforced, text)
	if p.At == "--hide" {
		b.plan.Warnings = append(b.plan.Warnings, spec.Warning{Field: "filesystem.hide", On: p.At, Text: text})
	}
}

// hideTargets hides what binds of the spec show under a hidden path that is not
// there itself, or that a root of the sandbox's own has for their sake alone.
func (b *guards) hideTargets(p spec.Path) {
	for i := range b.binds {
		m := &b.binds[i]
		if m.Mode != spec.MountTmpfs && (under(m.Target, p.Abs) || under(m.Target, p.Real)) && b.onTop(m.Target) == i && b.view.At(m.Target).Access > view.Hidden {
			b.mask(m.Target, bindKind(m), "filesystem.hide")
		}
	}
}

// lostMounts says which mounts of the spec cannot be seen: hide goes before them,
// and the line says so; whatever else hides one is a refusal.
func (b *guards) lostMounts() {
	for i := range b.r.Mounts {
		m := &b.r.Mounts[i]
		if g := b.view.At(m.Target); g.Access > view.Hidden && g.Source == m.Source.Real {
			continue
		}
		byHide := func(h spec.Path) bool { return under(m.Target, h.Real) || under(m.Target, h.Abs) }
		if slices.ContainsFunc(b.r.Hide, byHide) || b.r.AllowsLess(m.Field) {
			b.fault("filesystem.mounts", Degraded, m.Target+" is not in view: it lies in what is hidden")
			continue
		}
		b.problems = append(b.problems, &spec.Problem{Field: m.Field, On: m.At, Do: "mount at " + m.Target,
			Why: "it lies in a directory that is hidden, and stays so", Help: "choose another target"})
	}
}

// hideInBind hides what only a bind of the spec puts at a hidden path.
func (b *guards) hideInBind(p spec.Path) {
	i := b.onTop(p.Abs)
	if i < 0 || b.binds[i].Mode == spec.MountTmpfs || b.view.At(p.Abs).Access <= view.Hidden {
		return
	}
	m := &b.binds[i]
	source := m.Source.Real + p.Abs[len(m.Target):]
	if b.restricted() {
		b.pinsAbove(source, p.Abs)
	}
	kind := b.h.Kind(source)
	if p.Abs == m.Target {
		kind = pathKind(m.Source)
	}
	if kind != Absent {
		b.mask(p.Abs, kind, "filesystem.hide")
	}
}
