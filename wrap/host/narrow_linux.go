package host

import (
	"sbx/spec"
	"sbx/wrap"
)

// Keeps returns an error if the child spec opens a path that its parent hides by default or
// protects. The tables used in package spec know only the usual locations; Keeps looks at
// the host, where variables, symlinks and git's configuration move them.
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
		// In the child's survey a symlink to a directory that contains its working directory
		// is not a secret. The parent starts elsewhere, so its survey decides.
		if within(child.WorkingDir.Real, s.Real) {
			return opensMore(&child.WorkingDir, "in view", has)
		}
	}
	return nil
}

// keepsProtected checks the paths that the child names in filesystem.write: naming a directory
// that contains a protected path does not make that path writable.
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

// namesMore reports whether the child starts in another directory than its parent, or names
// a path that the parent does not name or reaches only through a planted symlink.
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
