package outer

import (
	"slices"
	"strings"
)

// ownEnviron is the environment of the tool itself. It hands its own on, and so has the
// command's, but for what would change the tool, which runs outside: that is told
// by value. The client of an engine has besides what it needs to find that.
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

// ToolEnviron is the environment in which another tool is started outside of every
// sandbox: env, without what makes a program load code or data from elsewhere,
// which may be where a sandbox can write.
func ToolEnviron(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return heeded(name)
	})
}

// What a client of an engine keeps the caller's value of, whatever the command's
// is: what every program needs, and how it finds its engine.
var (
	clientsNeed   = [...]string{"PATH", "HOME", "XDG_RUNTIME_DIR"}
	clientsEngine = [...]string{"DOCKER_", "CONTAINER_", "CONTAINERS_"} // with anything behind
)

// clients tells whether a variable is one of those.
func clients(name string) bool { return ownsName(name) || begins(name, clientsEngine[:]) }

// ownsName tells whether a client keeps its own of a variable that every process has.
func ownsName(name string) bool { return slices.Contains(clientsNeed[:], name) }

// heeded tells whether a variable is one that the loader, the C library or Go's
// runtime of any program heeds: what they name is loaded into it. These are the
// ones that a setuid program ignores (ld.so(8)), and Go's own.
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
