package listen

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// lookCalls are those of seccomp.Options.Looks, and where the path is that they look at.
var lookCalls = map[string]pathArg{
	"access":     {-1, 0},
	"faccessat":  {0, 1},
	"faccessat2": {0, 1},
	"lstat":      {-1, 0},
	"newfstatat": {0, 1},
	"open":       {-1, 0},
	"openat":     {0, 1},
	"openat2":    {0, 1},
	"readlink":   {-1, 0},
	"readlinkat": {0, 1},
	"stat":       {-1, 0},
	"statx":      {0, 1},
}

// LookFor is the action of who asks whether something is there, or opens it to read it.
const LookFor = "look for"

// tell tells of a call that looks for a secret. It decides nothing: the kernel finds
// that nothing is there. A path that names none is known by its text.
func (s *looker) tell(at pathArg) {
	a, b := s.argument(at), &s.work[0]
	named, e := s.readInto(a.addr, b.path[:])
	if e != 0 || !slices.ContainsFunc(s.secrets, func(secret string) bool { return bytes.Contains(named, []byte(path.Base(secret))) }) {
		return
	}
	d := s.entryAt(a.dirfd, named, b, stays)
	defer d.close()
	if !d.ok && !d.absent {
		return
	}
	target := text(d.path)
	if slices.ContainsFunc(s.secrets, func(secret string) bool { return target == secret || strings.HasPrefix(target, secret+"/") }) {
		s.report(Hidden, LookFor, target)
	}
}
