package outer

import (
	"slices"
	"strings"
)

// ownEnviron returns the environment of the tool itself, which hands it on: the command's,
// without the variables that would change the tool, which runs outside. The line passes those by
// value. An engine's client also keeps the caller's variables by which it finds the engine.
func (w *wrapper) ownEnviron(env, callers []string) []string {
	own := make([]string, 0, len(env))
	name := func(v string) string { name, _, _ := strings.Cut(v, "="); return name }
	if w.image {
		for _, v := range callers {
			if clients(name(v)) {
				own = append(own, v)
			}
		}
	}
	for _, v := range env {
		if n := name(v); !heeded(n) && !(w.image && clients(n)) {
			own = append(own, v)
		}
	}
	return own
}

// ToolEnviron returns env without the variables that make a program load code or data from
// elsewhere, where a sandbox might write. Other tools run outside of every sandbox.
func ToolEnviron(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return heeded(name)
	})
}

// The variables of which an engine's client keeps the caller's value, whatever the command's
// is: those that every program needs, and those by which it finds the engine.
var (
	clientsNeed   = [...]string{"PATH", "HOME", "XDG_RUNTIME_DIR"}
	clientsEngine = [...]string{"DOCKER_", "CONTAINER_", "CONTAINERS_"} // with anything behind
)

// clients reports whether a variable is one of those.
func clients(name string) bool { return ownsName(name) || begins(name, clientsEngine[:]) }

// ownsName reports whether a variable is one of clientsNeed.
func ownsName(name string) bool { return slices.Contains(clientsNeed[:], name) }

// heeded reports whether the loader, the C library or Go's runtime loads into a program what a
// variable names. These are the variables that a setuid program ignores (ld.so(8)), and Go's.
func heeded(name string) bool {
	return begins(name, loadedPrefixes[:]) || slices.Contains(loaded[:], name)
}

var (
	loadedPrefixes = [...]string{"LD_"} // with anything behind
	loaded         = [...]string{"GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "GODEBUG", "HOSTALIASES", "LOCALDOMAIN", "LOCPATH",
		"MALLOC_TRACE", "NIS_PATH", "NLSPATH", "RESOLV_HOST_CONF", "RES_OPTIONS", "TZDIR"}
)

func begins(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}
