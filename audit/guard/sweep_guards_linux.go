package guard

import (
	"strings"

	"sbx/wrap"
)

// Kind says how a path is protected from changes inside. It is decided by name alone: the mount may
// be missing at that moment, because the host replaces the file.
type Kind uint8

// The kinds of protection.
const (
	Unguarded Kind = iota
	Missed         // a protected name that was not found at launch, and has no mount
	Pinned         // a mount point, which must not be removed or replaced
	Fixed          // a read-only mount point
	Within         // under a read-only mount point
)

// Guards returns how a path of the host is protected, and the innermost mount point or tree
// above it; "" for a path outside of the writable trees.
func (s *Sweep) Guards(path string) (g Kind, mount string) {
	s.prepare()
	t, _ := s.Held.find(path)
	if t == nil {
		return Unguarded, ""
	}
	for end := strings.LastIndexByte(path, '/'); end > len(t.path); end = strings.LastIndexByte(path[:end], '/') {
		if fixed, ok := s.mounted[path[:end]]; fixed {
			return Within, path[:end]
		} else if ok && mount == "" {
			mount = path[:end]
		}
	}
	if mount == "" {
		mount = t.path
	}
	fixed, ok := s.mounted[path]
	switch {
	case fixed:
		return Fixed, mount
	case ok:
		return Pinned, mount
	case s.Cut && s.isMissed(path):
		return Missed, mount
	}
	return Unguarded, mount
}

// Guarded reports whether a name, without its directory, is that of some mount point.
func (s *Sweep) Guarded(name string) bool {
	s.prepare()
	return s.names[name]
}

func (s *atLaunch) mountedOn(renewed []wrap.Renewal) {
	s.mounted = make(map[string]bool, len(s.fixed)+len(renewed))
	for i := range renewed {
		r := &renewed[i]
		s.mounted[r.Path] = s.mounted[r.Path] || r.Mount.Op != wrap.OpPin
	}
	for path := range s.fixed {
		s.mounted[path] = true
	}
	s.names = make(map[string]bool, len(s.mounted))
	for path := range s.mounted {
		s.names[path[strings.LastIndexByte(path, '/')+1:]] = true
	}
}

// isMissed reports whether a path has a protected name that was not found at launch.
func (s *Sweep) isMissed(path string) bool {
	t, rel := s.Held.find(path)
	return t != nil && !s.known[path] && s.forbidden(path, rel) && !s.ambiguous(path, rel) && !s.allowed(path, rel)
}
