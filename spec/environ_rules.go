package spec

import "strings"

// EnvironRules are the rules of Resolved.Environ as data, for implementations in other languages. For
// each name: Set gives its value; or else a prefix in Loaders removes it; or else Pass or Credentials
// decide.
type EnvironRules struct {
	Set     [][2]string // names that the caller does not have are appended in this order
	Loaders []string
	// Pass are globs of which one must match the name; with Any every name passes.
	Pass []string
	Any  bool
	// Credentials decide if Pass is nil and Any is false: the first row whose glob matches the name
	// in upper case and, with InURL, whose condition on the value holds. A name without a row
	// passes.
	Credentials []CredentialName
}

// EnvironRules returns the rules of r.
func (r *Resolved) EnvironRules() (e EnvironRules) {
	set := r.Spec.Environment.Value.Set.Value
	for _, name := range r.Spec.setOrder() {
		e.Set = append(e.Set, [2]string{name, set[name]})
	}
	if r.Limited {
		e.Loaders = []string{loaderPrefix}
	}
	pass := r.Spec.Environment.Value.Pass
	switch {
	case pass.Set:
		e.Pass = append([]string{}, pass.Value...)
	case r.Job != nil:
		e.Pass = append([]string{}, jobPass...)
	case r.AccessMode == ReadOnly, r.AccessMode == WorkspaceWrite:
		e.Credentials = credentialNames
	default:
		e.Any = true
	}
	return e
}

// loaderPrefix is the prefix of the dynamic loader's variables.
const loaderPrefix = "LD_"

// isLoaders reports whether name is a variable of the dynamic loader (ld.so(8)): most of these make it
// load other code. GLIBC_TUNABLES does not.
func isLoaders(name string) bool { return strings.HasPrefix(name, loaderPrefix) }
