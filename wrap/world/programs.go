package world

import (
	"path"
	"slices"
	"strings"

	"sbx/spec"
	"sbx/wrap"
)

// programs fills in the programs that the field commands names, as Probe does. Every program of the
// world is dynamic, except that "script PROGRAM INTERPRETER" makes one a script; "linked PROGRAM"
// gives one a second name.
func (w *World) programs(h *wrap.Host, r *spec.Resolved) {
	const loader = "/usr/lib64/ld.so"
	look := func(at spec.ProgramAt) wrap.Executable {
		e := wrap.Executable{Asked: at.Asked, Field: at.Field, At: at.At}
		if at.Path.IsDir {
			e.Kind, e.Path, e.Real, e.Mapped = wrap.Dir, at.Inside, at.Path.Real, at.Mapped
			return e
		}
		e.Path, e.Mapped = at.Inside, at.Mapped
		if at.Name != "" {
			e.Path, e.Dir = "/usr/bin/"+at.Name, "/usr/bin"
		}
		host, _ := r.Outside(e.Path)
		real, err := spec.Real(host, w)
		if err != nil {
			return e
		}
		e.Kind, e.Real = wrap.File, real
		e.Changeable = h.UID == 0 || strings.HasPrefix(real, "/home/u/")
		e.Owned = h.UID != 0 && e.Changeable
		e.Linked = slices.Contains(w.linked, real)
		if e.Interpreters = w.scripts[real]; e.Interpreters == nil {
			e.Loader = loader
		}
		return e
	}
	for _, at := range r.Allow {
		h.Allow = append(h.Allow, look(at))
	}
	for _, at := range r.Deny {
		h.Deny = append(h.Deny, look(at))
	}
	if r.Limited || len(r.Deny) > 0 {
		h.Loaders = []string{loader}
	}
}

// programLine reads a fact about a program.
func (w *World) programLine(word, at, more string) bool {
	switch word {
	case "script":
		if w.scripts == nil {
			w.scripts = map[string][]string{}
		}
		w.scripts[at] = strings.Fields(more)
	case "linked":
		w.linked = append(w.linked, at)
	case "linux":
		major, minor, _ := strings.Cut(at, ".")
		w.Host.Kernel, w.Host.Release = wrap.Version{int(major[0] - '0'), int(minor[0] - '0')}, at+".0"
	default:
		return false
	}
	if word == "script" && path.Dir(at) == "/usr/bin" {
		w.Add(at, Node{Kind: wrap.File})
	}
	return true
}
