package main

import (
	"slices"
	"strings"

	"sbx/internal/doc"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
)

// tracedProgram is a program that the spec or the command line names, with the files that it leads
// to.
type tracedProgram struct {
	name string
	hops []host.Hop
}

// traces returns the command and the programs of commands.allow, each with all links and
// interpreters that it leads to.
func (x *execution) traces() []tracedProgram {
	var all []tracedProgram
	if !x.NoCommand {
		all = append(all, tracedProgram{x.Argv[0], host.Trace(x.prepared.Program.Path, x.Resolved)})
	}
	for i := range x.prepared.Host.Allow {
		e := &x.prepared.Host.Allow[i]
		if e.Kind == wrap.File && (x.NoCommand || e.Asked != x.Argv[0]) {
			all = append(all, tracedProgram{e.Asked, host.Trace(e.Path, x.Resolved)})
		}
	}
	return all
}

// programText returns a line for each program.
func (x *execution) programText() string {
	var b strings.Builder
	for _, t := range x.traces() {
		b.WriteString("program " + spec.Name(t.name) + ":")
		for i, h := range t.hops {
			switch h.How {
			case "":
			case "link":
				b.WriteString(" ->")
			default:
				b.WriteString(", " + h.How)
			}
			b.WriteString(" " + spec.Name(h.Path))
			last := i+1 == len(t.hops) || t.hops[i+1].How != "link"
			if last && !allowed(x.prepared.Plan, h.Path) {
				b.WriteString(" (not in commands.allow)")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// allowed reports whether the plan allows a program to be executed.
func allowed(p *wrap.Plan, path string) bool {
	if !p.Programs.Limited {
		return true
	}
	is, err := spec.Real(path, spec.HostPaths{})
	if err != nil {
		return true // it may be in another view; the kernel decides
	}
	for _, f := range p.Programs.Files {
		if f == path || f == is {
			return true
		}
	}
	return slices.ContainsFunc(p.Programs.Dirs, func(d string) bool { return view.Within(path, d) || view.Within(is, d) })
}

// writePrograms writes the same as the member programs.
func (x *execution) writePrograms(w *doc.Writer) {
	doc.Objects(w, "programs", x.traces(), func(t *tracedProgram) {
		w.KeyStr("name", t.name)
		doc.Objects(w, "chain", t.hops, func(h *host.Hop) {
			w.KeyText("how", h.How)
			w.KeyStr("path", h.Path)
		})
	})
}
