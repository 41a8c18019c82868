package wrap

import (
	"slices"

	"sbx/internal/view"
	"sbx/spec"
)

// maskSecrets lays an empty directory or file over everything hidden that a cover cannot hide by
// name: secret directories, sockets, removable media, and files in trees that must stay themselves
// because they are writable.
func (b *guards) maskSecrets() {
	if b.h.SecretsCut != "" {
		b.fault(FieldSecrets, Degraded, b.h.SecretsCut)
	}
	for _, s := range b.h.Secrets {
		switch s.Kind {
		case Absent: // a link to nothing
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

// maskImages masks a path wherever it shows, except where a private directory of the sandbox
// already stands there. If the host replaces a masked file, it shows again until it is masked
// again, unlike a file hidden by name. The Enforcement says so.
func (b *guards) maskImages(path string, k Kind, f spec.Field, why string) {
	for _, image := range b.images(path) {
		b.maskAt(image, path, k, f, why)
	}
}

// maskAt masks one place inside at which a path of the host shows.
func (b *guards) maskAt(image, path string, k Kind, f spec.Field, why string) {
	if b.restricted() { // otherwise the command could rename a directory above, and the next run would see what the directory holds
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

// hide enforces filesystem.hide, except for files that are hidden by name.
func (b *guards) hide() {
	if b.r.HideCut != "" {
		b.fault("filesystem.hide", Degraded, b.r.HideCut)
	}
	for _, p := range b.r.Hide {
		b.hideInBind(p)
		if !p.Exists {
			b.hideTargets(p)
			b.reportNothingHidden(p)
			continue
		}
		if under(p.Real, "/proc") || b.ownDev(p.Real) {
			b.mask(p.Real, pathKind(p), "filesystem.hide") // the sandbox's own /proc or /dev has the path, too
			continue
		}
		for _, image := range b.allImages(p.Real) {
			kind := pathKind(p)
			if g := b.view.At(image); g.Source != p.Real { // what shows at image lies under p.Real
				kind = pathKind(spec.Path{IsDir: !g.File})
			}
			b.maskAt(image, p.Real, kind, "filesystem.hide", "")
		}
		b.hideTargets(p)
	}
}

// reportNothingHidden reports that a path of filesystem.hide does not exist and would be visible if
// it were created. A document may be meant for many hosts, so there only the Enforcement says so; a
// user who typed --hide for this run is warned.
func (b *guards) reportNothingHidden(p spec.Path) {
	if slices.ContainsFunc(b.binds, func(m spec.MountAt) bool { return under(m.Target, p.Abs) || under(m.Target, p.Real) }) {
		return
	}
	text := "nothing is at " + p.Abs + " to hide"
	b.fault("filesystem.hide", Enforced, text)
	if p.At == "--hide" {
		b.plan.Warnings = append(b.plan.Warnings, spec.Warning{Field: "filesystem.hide", On: p.At, Text: text})
	}
}

// hideTargets hides mounts of the spec whose target lies under a hidden path. The hidden path need
// not exist on the host, and may be in an empty root only for the sake of these targets.
func (b *guards) hideTargets(p spec.Path) {
	for i := range b.binds {
		m := &b.binds[i]
		if m.Mode != spec.MountTmpfs && (under(m.Target, p.Abs) || under(m.Target, p.Real)) && b.onTop(m.Target) == i && b.view.At(m.Target).Access > view.Hidden {
			b.mask(m.Target, bindKind(m), "filesystem.hide")
		}
	}
}

// lostMounts reports the spec's mounts that the command cannot see. If filesystem.hide covers one,
// which beats mounts, the Enforcement says so; if anything else covers it, the spec is refused.
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

// hideInBind hides a path that shows inside only because a bind of the spec puts something there.
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
