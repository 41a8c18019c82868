package host

import (
	"sbx/spec"
	"sbx/wrap"
)

// Keeps refuses a spec that opens what the one it narrows hides by default or
// protects. The tables that narrowing itself asks know the usual places; this
// looks at the host, where variables, links and git's configuration move them.
func Keeps(parent, child *spec.Resolved) error {
	if !parent.Private || !namesMore(parent, child) {
		return nil
	}
	facts := Facts()
	outer, inner := Survey(parent, facts), Survey(child, facts)
	if err := keepsSecrets(parent, child, &outer, &inner); err != nil {
		return err
	}
	return keepsProtected(parent, child, &outer)
}

func keepsSecrets(parent, child *spec.Resolved, outer, inner *wrap.Host) error {
	hidden := make(map[string]bool, len(inner.Secrets))
	for _, s := range inner.Secrets {
		hidden[s.Real] = true
	}
	for _, s := range outer.Secrets {
		if s.Kind == wrap.Absent || hidden[s.Real] {
			continue
		}
		has := s.Path + " hidden (" + parent.GuardedBy() + "): it is a secret (" + s.Why + ")"
		for _, list := range [][]spec.Path{child.Read, child.Write} {
			for _, p := range list {
				if p.Field != "" && within(p.Real, s.Real) {
					return opensMore(&p, "in view", has)
				}
			}
		}
		// A link to what holds the directory that one works in is no secret: the
		// parent, which starts elsewhere, knows better.
		if within(child.WorkingDir.Real, s.Real) {
			return opensMore(&child.WorkingDir, "in view", has)
		}
	}
	return nil
}

// keepsProtected asks of what a document writes by name: naming a directory that
// holds something protected opens none of it.
func keepsProtected(parent, child *spec.Resolved, outer *wrap.Host) error {
	for _, list := range [][]wrap.Protected{outer.Protected, outer.Unmade} {
		for i := range list {
			k := &list[i]
			if k.Shared {
				continue
			}
			for j := range child.Write {
				if p := &child.Write[j]; p.InWrite() && (p.Real == k.Path || within(p.Real, k.Path)) {
					return opensMore(p, "writable", k.Path+" protected ("+parent.GuardedBy()+"): "+k.Why)
				}
			}
		}
	}
	return nil
}

func opensMore(p *spec.Path, what, has string) error {
	return &spec.Problem{Field: p.Field, On: p.At, Do: "have " + p.Abs + " " + what,
		Why: "the parent has " + has, Help: "ask for no more than the parent has, or leave it out"}
}

// namesMore tells whether child names a path that parent does not, or only by a link
// that opens nothing, or starts in another.
func namesMore(parent, child *spec.Resolved) bool {
	if child.WorkingDir.Real != parent.WorkingDir.Real {
		return true
	}
	known := map[string]bool{}
	for _, list := range [][]spec.Path{parent.Read, parent.Write} {
		for _, p := range list {
			known[p.Real] = known[p.Real] || !parent.Planted(&p)
		}
	}
	for _, list := range [][]spec.Path{child.Read, child.Write} {
		for _, p := range list {
			if p.Field != "" && !known[p.Real] {
				return true
			}
		}
	}
	return false
}
