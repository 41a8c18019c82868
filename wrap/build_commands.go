package wrap

import (
	"slices"
	"strings"

	"sbx/seccomp"
	"sbx/spec"
)

// sealKernel is the first kernel with MFD_NOEXEC_SEAL.
var sealKernel = Version{6, 3}

// commands decides which files the command may start. Landlock enforces commands.allow and masks
// enforce commands.deny. A file that both name is denied.
func (b *programs) commands() {
	if !b.r.Limited && len(b.r.Deny) == 0 {
		return
	}
	if b.plan.Rung == RungParent {
		const why = "inside another sandbox nothing new is mounted or restricted"
		held := b.h.Parent
		if b.r.Limited && !(held.names("allow", b.r.Allow) && held.namesOnly("allow", b.r.Allow)) {
			b.lackCommands(fieldAllow, why, Unavailable)
		}
		if !held.names("deny", b.r.Deny) {
			b.lackCommands(fieldDeny, why, Unavailable)
		}
		return
	}
	b.collectDenied()
	if b.r.Limited {
		b.collectAllowed()
	}
}

// lackCommands reports that a field of commands cannot be enforced as requested.
func (b *draft) lackCommands(f spec.Field, why string, s Status) {
	b.lack(&spec.Problem{Field: f, On: b.r.At(f), Do: "hold " + string(f), Why: why,
		Help: "leave it out, or list \"" + string(f) + "\" in best_effort"}, s)
}

// collectDenied collects the files that commands.deny names.
func (b *programs) collectDenied() {
	for i := range b.h.Deny {
		e := &b.h.Deny[i]
		if e.Kind == Absent {
			b.fault(fieldDeny, Enforced, e.Asked+" is not there")
			continue
		}
		if e.Real[strings.LastIndexByte(e.Real, '/')+1:] != e.Asked[strings.LastIndexByte(e.Asked, '/')+1:] {
			b.fault(fieldDeny, Enforced, e.Asked+" is "+e.Real+", by whatever name it is called")
		}
		b.denied, b.isDenied[e.Real] = append(b.denied, e.Real), true
	}
	if len(b.denied) > 0 && b.plan.Rung == RungBare && (!b.r.Limited || b.h.LandlockABI == 0) {
		b.lackCommands(fieldDeny, "no namespaces, and so no masks: "+b.h.rungWhy(), Unavailable)
	}
	for _, path := range b.needed() {
		if b.isDenied[path] {
			b.problems = append(b.problems, &spec.Problem{Field: fieldDeny, On: b.r.At(fieldDeny), Do: "run " + b.req.Argv[0],
				Why: "commands.deny names " + path, Help: "take it out of commands.deny"})
		}
	}
}

// needed returns the files that the kernel executes to start the command.
func (b *programs) needed() []string {
	if b.req.Program.Real == "" { // another tool looks for the program
		return nil
	}
	return append([]string{b.req.Program.Real}, b.req.Program.Interpreters...)
}

// collectAllowed collects the files that may be started, if Landlock can enforce the list.
func (b *programs) collectAllowed() {
	for i := range b.h.Allow {
		e := &b.h.Allow[i]
		switch {
		case e.Kind == Absent:
			b.refuseAllowed(e, "nothing on the command's PATH has that name", "name its path, or take it out of commands.allow")
		case e.Kind == Other:
			b.refuseAllowed(e, e.Real+" cannot be executed", "make it executable, or take it out of commands.allow")
		case b.isDenied[e.Real]:
			b.fault(fieldAllow, Enforced, e.Asked+" is denied as well, and denied wins")
		default:
			b.runs, b.runsAt[e.Real] = append(b.runs, e), e.Kind
		}
	}
	for i, path := range b.needed() {
		name := path
		if i == 0 {
			name = spec.SpelledProgram(b.req.Argv[0], path)
		}
		if !b.mayRun(path) {
			b.problems = append(b.problems, &spec.Problem{Field: fieldAllow, On: b.r.At(fieldAllow), Do: "run " + b.req.Argv[0],
				Why: "commands.allow does not name " + path, Help: Allows(Starting(b.r, name))})
		}
	}
	if b.h.LandlockABI == 0 {
		b.lackCommands(fieldAllow, "no Landlock: "+b.h.LandlockWhy, Unavailable)
		b.runs, b.runsAt = nil, nil
		return
	}
	b.plan.Programs.Limited = true
	for _, e := range b.runs {
		for _, i := range e.Interpreters {
			if !b.mayRun(i) {
				b.fault(fieldAllow, Enforced, e.Asked+" is a script of "+i+", which is not allowed")
				break
			}
		}
	}
	b.seal()
}

func (b *programs) refuseAllowed(e *Executable, why, help string) {
	b.problems = append(b.problems, &spec.Problem{Field: e.Field, On: e.At, Do: "allow " + e.Asked, Why: why, Help: help})
}

// mayRun reports whether commands lets a file of the host be started.
func (b *programs) mayRun(real string) bool {
	_, named := b.runsAt[real]
	return !b.isDenied[real] && (named || b.inRuns(real))
}

// seal keeps the command from executing files in memory, which Landlock does not check.
func (b *programs) seal() {
	f := &b.plan.Filter
	switch {
	case !f.On:
		b.lackCommands(fieldAllow, "no seccomp: a file in memory (memfd_create) can be executed", Degraded)
	case b.mute != "":
		f.Seal = seccomp.SealRefuse
		b.fault(fieldAllow, Enforced, "memfd_create is denied except with MFD_NOEXEC_SEAL: "+b.mute)
	case b.h.Kernel.Less(sealKernel):
		f.Seal = seccomp.SealRefuse
		b.fault(fieldAllow, Enforced, "memfd_create is denied: it cannot be sealed before Linux 6.3")
	default:
		f.Seal = seccomp.SealAsk
	}
}

// placePrograms masks denied files. It also makes allowed files read-only where the command could
// write them: otherwise it could put its own program into an allowed file, or replace the file.
func (b *programs) placePrograms() {
	p := &b.plan.Programs
	for _, real := range b.denied {
		images := b.allImages(real)
		for _, image := range images {
			b.add(item{how: itemMasked, path: image, kind: File, soft: true, field: fieldDeny, source: real})
			p.Denied = append(p.Denied, image)
		}
		if len(images) > 0 && !(p.Limited && !b.inRuns(real)) {
			b.plan.Watch.Masked = append(b.plan.Watch.Masked, real)
			b.fault(fieldDeny, Degraded, real+" is masked: when the host replaces it, it runs until it is masked again")
		}
	}
	b.files(func(image string, f spec.Field) {
		b.add(item{how: itemClosed, path: image, soft: true, field: f, why: "it may be executed, and so not be written"})
	})
}

// inRuns reports whether a file lies in an allowed directory.
func (b *programs) inRuns(real string) bool {
	for at := real; ; at = parent(at) {
		if b.runsAt[at] == Dir {
			return true
		}
		if at == "/" {
			return false
		}
	}
}

// barePrograms does what it can of placePrograms without mounts.
func (b *programs) barePrograms() {
	b.files(func(image string, f spec.Field) {
		b.lackCommands(f, image+" can be rewritten by the command: without namespaces nothing can be made read-only for it", Degraded)
	})
	for _, real := range b.denied {
		if b.plan.Programs.Limited && b.inRuns(real) {
			b.lackCommands(fieldDeny, real+" lies in a directory that is allowed, and without namespaces it cannot be masked", Unavailable)
		} else if b.plan.Programs.Limited {
			b.plan.Programs.Denied = append(b.plan.Programs.Denied, real)
		}
	}
}

// files lists the allowed files and directories by their paths inside, and calls writable for each
// that the command could write.
func (b *programs) files(writable func(image string, f spec.Field)) {
	p := &b.plan.Programs
	var linked, loaders []string
	load := func(l string) {
		if !slices.Contains(loaders, l) {
			loaders = append(loaders, l)
		}
	}
	for _, e := range b.runs {
		images := b.imagesOf(e.Real)
		if len(images) == 0 {
			b.fault(fieldAllow, Enforced, e.Asked+" ("+e.Real+") is not in view")
		}
		if e.Kind == Dir {
			p.Dirs = append(p.Dirs, images...)
			for _, l := range b.h.Loaders {
				load(l)
			}
			continue
		}
		load(e.Loader)
		for _, image := range images {
			p.Files = append(p.Files, image)
			open := e.Changeable && b.mayChange(image)
			if open {
				writable(image, fieldAllow)
			}
			if e.Linked && !slices.Contains(linked, e.Real) && (open || e.Owned && b.h.UID != 0 && len(b.writables()) > 0) {
				linked = append(linked, e.Real)
			}
		}
	}
	b.linked(linked)
	if p.Limited {
		for _, image := range b.loaderImages(loaders) {
			if slices.Contains(p.Files, image) {
				continue
			}
			p.Files = append(p.Files, image)
			if b.mayChange(image) && (b.h.UID == 0 || b.restricted()) {
				writable(image, fieldAllow)
			}
		}
	}
	loaders = append(append(loaders, b.req.Program.Loader), b.h.Loaders...)
	loaders = slices.DeleteFunc(loaders, func(l string) bool { _, named := b.runsAt[l]; return named })
	p.Loaders = b.loaderImages(loaders)
}

// loaderImages returns the paths inside of loaders, each once.
func (b *programs) loaderImages(loaders []string) (images []string) {
	for _, l := range loaders {
		if l == "" {
			continue
		}
		for _, image := range b.imagesOf(l) {
			if !slices.Contains(images, image) {
				images = append(images, image)
			}
		}
	}
	return images
}

// linked refuses programs that have a second name through which the command could write them: a
// mount protects one name only.
func (b *programs) linked(paths []string) {
	if len(paths) == 0 {
		return
	}
	more := ""
	if len(paths) > 3 {
		more = " and " + itoa(len(paths)-3) + " more"
		paths = paths[:3]
	}
	b.lack(&spec.Problem{Field: fieldAllow, On: b.r.At(fieldAllow), Do: "keep " + strings.Join(paths, ", ") + more + " from being rewritten",
		Why:  "such a file has another name (a hard link), by which it may be written",
		Help: "make their place read-only (access_mode), let each be a copy of its own, or list \"commands.allow\" in best_effort"}, Degraded)
}
