package host

import (
	"cmp"

	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// programs resolves the program names in the field commands along the command's PATH: to
// the first match for an allowed name, to all matches for a denied one.
func (p *prober) programs() {
	if !p.r.Limited && len(p.r.Deny) == 0 {
		return
	}
	for i := range p.r.Allow {
		p.h.Allow = append(p.h.Allow, p.allowed(&p.r.Allow[i]))
	}
	for i := range p.r.Deny {
		p.h.Deny = append(p.h.Deny, p.denied(&p.r.Deny[i])...)
	}
	for _, row := range defaults.Loaders() {
		if real, err := spec.Real(row.Path, spec.HostPaths{}); err == nil {
			p.h.Loaders = append(p.h.Loaders, real)
		}
	}
}

func (p *prober) allowed(at *spec.ProgramAt) wrap.Executable {
	e := wrap.Executable{Asked: at.Asked, Field: at.Field, At: at.At}
	if at.Path.IsDir {
		e.Kind, e.Program = wrap.Dir, wrap.Program{Path: at.Inside, Real: at.Path.Real, Mapped: at.Mapped}
		return e
	}
	name := cmp.Or(at.Name, at.Inside)
	prog, outcome := LookUp(name, p.r)
	if e.Program = prog; outcome == Found {
		e.Kind = wrap.File
	} else if outcome == NotExecutable {
		e.Kind = wrap.Other
	}
	return e
}

func (p *prober) denied(at *spec.ProgramAt) (all []wrap.Executable) {
	places := []candidate{{path: at.Inside}}
	if at.Name != "" {
		places = candidates(at.Name, p.r)
	}
next:
	for _, c := range places {
		prog, outcome := lookAt(c.path, c.dir, p.r)
		if outcome == NotFound || prog.Real == "" || outcome == NotExecutable && at.Name != "" {
			continue
		}
		for i := range all {
			if all[i].Real == prog.Real && !prog.Mapped {
				continue next
			}
		}
		all = append(all, wrap.Executable{Program: prog, Asked: at.Asked, Field: at.Field, At: at.At, Kind: wrap.File})
	}
	if len(all) == 0 {
		all = []wrap.Executable{{Asked: at.Asked, Field: at.Field, At: at.At}}
	}
	return all
}
