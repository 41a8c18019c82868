package wrap

import (
	"slices"

	"sbx/spec"
)

// program makes sure that the files which the command needs to start are in view: the refusal names
// the line to add, which helps more than the shell's "not found".
func (b *programs) program() {
	p := &b.req.Program
	if b.plan.Base == BaseHost || p.Real == "" { // not known: another tool looks for the program
		return
	}
	var lacking []string
	if !p.Mapped && !b.seen(p.Real) {
		lacking = append(lacking, p.Real)
	} else if !p.Mapped && p.Dir != "" && !b.seen(p.Dir) && !b.isLink(p.Dir) {
		lacking = append(lacking, p.Dir)
	}
	for _, i := range p.Interpreters {
		if !b.seen(i) {
			lacking = append(lacking, i)
		}
	}
	for _, path := range lacking {
		if slices.Contains(b.denied, path) {
			continue // commands.deny has reported it already
		}
		b.problems = append(b.problems, b.outOfView(path))
	}
}

// isLink reports whether path lies under a link of @system, as /bin is on most hosts.
func (b *programs) isLink(path string) bool {
	return slices.ContainsFunc(b.h.System, func(s Found) bool { return s.Target != "" && under(path, s.Path) })
}

func (b *programs) outOfView(path string) *spec.Problem {
	p := &spec.Problem{On: path, Do: "start the command", Why: "what it needs is not in view"}
	switch {
	case b.r.Visible:
		p.Field = "filesystem.read"
		p.Help = Allows(Reading(b.r, path))
		if by := b.r.Lister(); by != "" {
			p.Help = "no spec adds to what " + by + " has in view: put it there, or install it under /usr"
		}
	case b.covered(path):
		p.Field = "access_mode"
		p.Why += ": the directory is private inside"
		p.Help = "add {\"source\": \"" + parent(path) + "\", \"target\": \"" + parent(path) + "\", \"mode\": \"ro\"} to filesystem.mounts"
	default:
		p.Field = "filesystem.hide"
		p.Why += ": it is hidden"
		p.Help = "take it out of filesystem.hide, or name it in " + string(fieldWrite)
	}
	return p
}

// HeldMode returns the access mode that the plan really enforces, for the record's access_mode. It
// is unset if the spec requests none, or if the requested one cannot be enforced.
func (p *Plan) HeldMode(r *spec.Resolved) spec.AccessMode {
	mode := r.AccessMode
	if mode == spec.AccessUnset {
		return mode
	}
	for _, e := range p.Enforcement {
		if e.Field == "access_mode" && e.Status != Enforced {
			return spec.AccessUnset
		}
	}
	if mode == spec.WorkspaceWrite && r.ReadOnly {
		return spec.ReadOnly
	}
	return mode
}

// Known lists the protected names that existed in the writable trees at launch.
func (h *Host) Known() []string {
	var known []string
	for i := range h.Protected {
		known = append(known, h.Protected[i].Path)
	}
	for _, r := range h.Repositories {
		known = append(known, r.GitDir, r.Common)
		if r.Top != "" {
			known = append(known, r.Top+"/.git")
		}
	}
	return append(known, h.Left...)
}
