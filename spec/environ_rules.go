package spec

import "strings"

// EnvironRules is what Resolved.Environ follows, as data: for those who follow it
// in another language. Names are tried in this order: a name of Set has that
// value, one that begins with a word of Loaders goes, then Pass or Credentials
// decide.
type EnvironRules struct {
	Set     [][2]string // what is not among the caller's comes behind, in this order
	Loaders []string
	// Pass is the globs of which one must match; with Any all names do.
	Pass []string
	Any  bool
	// Credentials decide instead, where Pass is nil and Any is not: the first row
	// whose glob matches the name in upper case and, with InURL, whose value holds an
	// address with a password. Without one it passes.
	Credentials []CredentialName
}

// EnvironRules gives the rules of r.
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

// loaderPrefix begins the names of the variables that the loader follows.
const loaderPrefix = "LD_"

// isLoaders tells whether a variable of that name is the dynamic loader's own
// (ld.so(8)): most of them make it load other code. GLIBC_TUNABLES does not.
func isLoaders(name string) bool { return strings.HasPrefix(name, loaderPrefix) }
