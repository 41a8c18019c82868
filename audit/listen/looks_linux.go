package listen

import (
	"bytes"
	"path"
	"sbx/internal/view"
	"slices"
)

// looker reports calls that look for secrets.
type looker struct {
	*paths
	*answers
	secrets []string
}

// reportLook reports a call that looks for a secret. It does not answer the call: the secret
// is hidden, so the kernel finds no file. Paths without the base name of a secret are
// skipped by their text, before they are resolved.
func (s *looker) reportLook(at pathArg) {
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
	if slices.ContainsFunc(s.secrets, func(secret string) bool { return view.Within(target, secret) }) {
		s.report(Hidden, LookFor, target)
	}
}
