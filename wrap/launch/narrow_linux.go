package launch

import (
	"sbx/spec"
	"sbx/wrap"
)

// KeepsSecrets refuses a spec that opens what the one it narrows hides by
// default. The tables that narrowing itself asks know the usual places; this
// looks at the host, where variables and links move them.
func KeepsSecrets(parent, child *spec.Resolved) error {
	if !parent.Private || !namesMore(parent, child) {
		return nil
	}
	facts := Facts()
	outer, inner := Survey(parent, facts), Survey(child, facts)
	hidden := make(map[string]bool, len(inner.Secrets))
	for _, s := range inner.Secrets {
		hidden[s.Real] = true
	}
	for _, s := range outer.Secrets {
		if s.Kind == wrap.Absent || hidden[s.Real] {
			continue
		}
		for _, list := range [][]spec.Path{child.Read, child.Write} {
			for _, p := range list {
				if p.Field != "" && within(p.Real, s.Real) {
					return &spec.Problem{Field: p.Field, On: p.At, Do: "have " + p.Abs + " in view",
						Why:  "the parent has " + s.Path + " hidden: it is a secret (" + s.Why + ")",
						Help: "ask for no more than the parent has, or leave it out"}
				}
			}
		}
	}
	return nil
}

// namesMore tells whether child names a path that parent does not.
func namesMore(parent, child *spec.Resolved) bool {
	known := map[string]bool{}
	for _, list := range [][]spec.Path{parent.Read, parent.Write} {
		for _, p := range list {
			known[p.Real] = true
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
