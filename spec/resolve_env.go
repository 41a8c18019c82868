package spec

import (
	"slices"
	"strings"
)

// jobPass is what the job layout passes of the caller's environment.
var jobPass = []string{"PATH", "HOME", "LANG", "TERM"}

// environment makes the command's environment: what is passed of the caller's,
// in its order, with what is set in its place or behind.
func (r *resolver) environment() {
	e, out := r.spec.Environment.Value, &r.out
	seen := make(map[string]struct{}, len(r.in.Environ))
	add := func(name, value string) {
		out.Env = append(out.Env, name+"="+value)
		out.Passed = append(out.Passed, name)
	}
	for _, v := range r.in.Environ {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			continue // getenv(3) finds none of them
		}
		if _, again := seen[name]; again {
			continue // getenv(3) finds the first
		}
		seen[name] = struct{}{}
		if set, ok := e.Set.Value[name]; ok {
			add(name, set)
			continue
		}
		if out.Limited && isLoaders(name) {
			out.Dropped = append(out.Dropped, name)
			r.note("commands.allow", name+" is kept from the command")
			continue
		}
		if !r.passes(name) {
			out.Dropped = append(out.Dropped, name)
			continue
		}
		add(name, value)
	}
	for _, name := range r.setOrder() {
		if out.Limited && isLoaders(name) {
			r.refuse("environment.set", "set "+name, "commands.allow keeps the loader's variables (LD_*) from the command", "take "+name+" out of environment.set")
		}
		if _, there := seen[name]; !there {
			add(name, e.Set.Value[name])
		}
	}
}

func (r *resolver) passes(name string) bool {
	pass := r.spec.Environment.Value.Pass
	switch {
	case pass.Set:
		return slices.ContainsFunc(pass.Value, func(p string) bool { return matchName(p, name) })
	case r.out.Job != nil:
		return slices.Contains(jobPass, name)
	case r.out.AccessMode == ReadOnly, r.out.AccessMode == WorkspaceWrite:
		if r.need.passesOwn(name) {
			return true
		}
		_, looks := LooksLikeCredential(name)
		return !looks
	}
	return true
}

// setOrder is the names of environment.set, in the document's order.
func (r *resolver) setOrder() []string {
	set := r.spec.Node().lookUp("environment.set")
	if set == nil {
		return nil
	}
	all := make([]string, len(set.Members))
	for i := range set.Members {
		all[i] = set.Members[i].Key
	}
	return all
}

// matchName matches a name with a glob of "*" and "?".
func matchName(glob, name string) bool {
	// Where the last "*" can take one character more, go back to it: a glob
	// without brackets needs no more than one place to go back to.
	star, retry := -1, 0
	g, n := 0, 0
	for n < len(name) {
		switch {
		case g < len(glob) && glob[g] == '*':
			star, retry = g, n
			g++
		case g < len(glob) && (glob[g] == '?' || glob[g] == name[n]):
			g++
			n++
		case star >= 0:
			retry++
			g, n = star+1, retry
		default:
			return false
		}
	}
	return strings.Trim(glob[g:], "*") == ""
}
