package spec

import (
	"slices"
	"strings"
)

// jobPass lists the variables of the caller's environment that the job layout passes.
var jobPass = []string{"PATH", "HOME", "LANG", "TERM"}

// environment builds the command's environment: the passed variables of the caller in their order,
// with the spec's values in their place or appended.
func (r *resolver) environment() {
	e := r.out.filter(r.in.Environ, r.need.passesOwn)
	r.out.Env, r.out.Passed, r.out.Dropped = e.env, e.passed, e.dropped
	for _, name := range e.loaders {
		r.note("commands.allow", name+" is kept from the command")
	}
	for _, name := range e.refused {
		r.refuse("environment.set", "set "+name, "commands.allow keeps the loader's variables (LD_*) from the command", "take "+name+" out of environment.set")
	}
}

// Environ applies the spec's rules to an environment other than the one that r was resolved with,
// and keeps its order. It leaves out variables that are passed only because the agent needs them.
func (r *Resolved) Environ(environ []string) []string {
	return r.filter(environ, func(string) bool { return false }).env
}

// filtered is the result of applying a spec's rules to an environment.
type filtered struct {
	env, passed, dropped []string
	loaders              []string // dropped because they are the loader's
	refused              []string // variables that the spec must not set but does
}

// filter applies the rules to an environment; own reports which names pass although they look like
// credentials.
func (r *Resolved) filter(environ []string, own func(string) bool) (f filtered) {
	set := r.Spec.Environment.Value.Set.Value
	seen := make(map[string]struct{}, len(environ))
	add := func(name, value string) {
		f.env = append(f.env, name+"="+value)
		f.passed = append(f.passed, name)
	}
	for _, v := range environ {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			continue // getenv(3) finds none of them
		}
		if _, again := seen[name]; again {
			continue // getenv(3) finds the first
		}
		seen[name] = struct{}{}
		if given, ok := set[name]; ok {
			add(name, given)
			continue
		}
		if r.Limited && isLoaders(name) {
			f.dropped, f.loaders = append(f.dropped, name), append(f.loaders, name)
			continue
		}
		if r.withoutProxy(name) || !r.passes(name, value, own) {
			f.dropped = append(f.dropped, name)
			continue
		}
		add(name, value)
	}
	for _, name := range r.Spec.setOrder() {
		if r.Limited && isLoaders(name) {
			f.refused = append(f.refused, name)
		}
		if _, there := seen[name]; !there {
			add(name, set[name])
		}
	}
	return f
}

// IsProxy reports whether programs read their proxy, or the hosts that need none, from a
// variable of that name.
func IsProxy(name string) bool {
	switch strings.ToUpper(name) {
	case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY":
		return true
	}
	return false
}

// withoutProxy reports whether a variable is withheld because it names a proxy: under mode
// allow the relay uses the proxy, and the command cannot reach its address.
func (r *Resolved) withoutProxy(name string) bool {
	return r.Network == NetworkAllow && !r.Spec.Environment.Value.Pass.Set && IsProxy(name)
}

func (r *Resolved) passes(name, value string, own func(string) bool) bool {
	pass := r.Spec.Environment.Value.Pass
	switch {
	case pass.Set:
		return slices.ContainsFunc(pass.Value, func(p string) bool { return matchName(p, name) })
	case r.Job != nil:
		return slices.Contains(jobPass, name)
	case r.AccessMode == ReadOnly, r.AccessMode == WorkspaceWrite:
		if own(name) {
			return true
		}
		_, looks := LooksLikeCredential(name, value)
		return !looks
	}
	return true
}

// setOrder returns the names of environment.set, in the document's order.
func (s *SandboxSpec) setOrder() []string {
	set := lookUp(s.Node(), "environment.set")
	if set == nil {
		return nil
	}
	all := make([]string, len(set.Members))
	for i := range set.Members {
		all[i] = set.Members[i].Key
	}
	return all
}

// passedValue returns the value with which a variable is passed; "" if it is not.
func (r *Resolved) passedValue(name string) string {
	for _, v := range r.Env {
		if n, value, _ := strings.Cut(v, "="); n == name {
			return value
		}
	}
	return ""
}

// Withhold removes variables that the command gets only by default. It keeps variables that
// environment names or that an agent needs.
func (r *Resolved) Withhold(names []string) {
	if r.Spec.Environment.Value.Pass.Set {
		return
	}
	needed := r.LookCredential()
	for _, name := range names {
		at := slices.Index(r.Passed, name)
		if _, set := r.Spec.Environment.Value.Set.Value[name]; at < 0 || set || slices.Contains(needed, name) {
			continue
		}
		r.Passed = slices.Delete(slices.Clone(r.Passed), at, at+1)
		r.Env = slices.DeleteFunc(slices.Clone(r.Env), func(v string) bool { return strings.HasPrefix(v, name+"=") })
		r.Dropped = append(slices.Clone(r.Dropped), name)
	}
}

// LookCredential returns the passed variables that look like credentials.
func (r *Resolved) LookCredential() (names []string) {
	for _, name := range r.Passed {
		if _, looks := LooksLikeCredential(name, r.passedValue(name)); looks {
			names = append(names, name)
		}
	}
	return names
}

// matchName matches a name with a glob of "*" and "?".
func matchName(glob, name string) bool {
	// On a mismatch, the loop goes back to the last "*" and lets it take one character more. A glob
	// without brackets never needs an earlier one.
	star, retry := -1, 0
	g, n := 0, 0
	// Most names end differently, which is quickly found.
	if last := len(glob) - 1; last >= 0 && glob[last] != '*' && glob[last] != '?' && (name == "" || name[len(name)-1] != glob[last]) {
		return false
	}
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
