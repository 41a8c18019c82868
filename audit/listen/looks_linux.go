package listen

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// lookCalls are the calls of seccomp.Options.Looks and the positions of their path
// arguments.
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

// LookFor is the reported action of a call that checks for a file or opens it to read.
const LookFor = "look for"

// tell reports a call that looks for a secret. It does not answer the call: the secret
// is hidden, so the kernel finds no file. Paths without the base name of a secret are
// skipped by their text, before they are resolved.
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
