package wrap

import (
	"slices"
	"strings"

	"sbx/spec"
)

// StateDir returns sbx's own state directory: $XDG_STATE_HOME/sbx if that is absolute, else
// ~/.local/state/sbx; "" for a caller without a home.
func StateDir(stateHome, home string) string {
	if strings.HasPrefix(stateHome, "/") {
		return strings.TrimRight(stateHome, "/") + "/sbx"
	}
	if !strings.HasPrefix(home, "/") {
		return ""
	}
	return strings.TrimRight(home, "/") + "/.local/state/sbx"
}

// Writes reports whether a sandbox with mounts lets the command write the file at a path of the
// host. The path has no links.
func Writes(r *spec.Resolved, path string) bool {
	switch {
	case !r.FileRules && !r.SideDoors: // nothing is mounted
		return false
	case !r.Confined:
		return true
	}
	return slices.ContainsFunc(WithOwn(r).Write, func(w spec.Path) bool { return under(path, w.Real) }) ||
		slices.ContainsFunc(r.Mounts, func(m spec.MountAt) bool { return m.Mode == spec.MountRW && under(path, m.Source.Real) })
}

// wayToState keeps a command that may write the directories above sbx's state directory from
// putting another in its place, because sbx trusts the records there. If the state directory
// exists, openSecrets has pinned the directories above it.
func (b *guards) wayToState() {
	for _, link := range b.h.StateLinks {
		if len(b.writableImages(link)) > 0 {
			b.fault(FieldRecord, Degraded, link+" is a link on the way to sbx's own records, which a command can replace, and then leave records of its own")
		}
	}
	at := b.h.State
	for at != "/" && at != "" && b.h.Kind(at) == Absent {
		at = parent(at)
	}
	if at == b.h.State {
		return
	}
	for _, image := range b.images(at) {
		b.pinsAbove(at+"/", image+"/")
		if b.h.StateWhy != "" && reaches(b.view.At(image)) {
			b.fault(FieldRecord, Degraded, b.h.State+", where sbx's own records are, could not be made ("+b.h.StateWhy+"): a command can make it, and leave records of its own")
		}
	}
}
