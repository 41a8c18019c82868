package spec

import "strings"

// mounts compares what is put where.
func (o *order) mounts() {
	for i := range o.c.Mounts {
		m := &o.c.Mounts[i]
		same := mountAt(o.p, m.Target)
		if same != nil && same.Source.Real == m.Source.Real && rank(m.Mode) <= rank(same.Mode) {
			continue
		}
		if m.Mode == MountTmpfs {
			continue // private and empty: nothing of the host's
		}
		why := o.unseen(m.Source.Real)
		if why == "" {
			why = o.covers(m.Source.Real, m.Target)
		}
		if why == "" {
			why = o.coversPrivate(m.Source.Real)
		}
		do := "mount " + odd(m.Source.Abs) + " at " + odd(m.Target)
		if why == "" && m.Mode == MountRW {
			why, do = o.onlyRead(m, same), do+" rw"
		}
		if why != "" {
			o.problems = append(o.problems, &Problem{Field: m.Field, On: m.At, Do: do, Why: "the parent has " + why, Help: NarrowHelp})
		}
	}
	for i := range o.p.Mounts {
		m := &o.p.Mounts[i]
		if mountAt(o.c, m.Target) == nil && !hides(o.c, m.Target) {
			o.wider("filesystem.mounts", "what lies under "+odd(m.Target)+" in view", "a mount on it", m.At)
		}
	}
}

// onlyRead tells why parent does not let what the child mounts be written there:
// at the same target its own mount is read-only, or the source is.
func (o *order) onlyRead(m, same *MountAt) string {
	if same != nil && same.Mode == MountRO {
		return "that target read-only (" + same.At + ")"
	}
	if o.writable(m.Source.Real) {
		return ""
	}
	at := orElse(o.writesBy(), o.at("filesystem.mounts"))
	if on := standingAt(o.p, m.Source.Real); on != nil {
		at = on.At
	}
	return "it read-only (" + at + ")"
}

// rank orders the modes of mounts: a private tmpfs shows nothing of the host.
func rank(m MountMode) int {
	switch m {
	case MountRO:
		return 1
	case MountRW:
		return 2
	}
	return 0
}

func mountAt(r *Resolved, target string) *MountAt {
	for i := range r.Mounts {
		if r.Mounts[i].Target == target {
			return &r.Mounts[i]
		}
	}
	return nil
}

// through tells whether a mount of parent's shows the whole of a path of the host: at
// the name that it has there no deeper mount and no mask stands, and none beneath it.
func (o *order) through(m *MountAt, real string) bool {
	if m.Mode == MountTmpfs || !under(real, m.Source.Real) {
		return false
	}
	name := clean(m.Target + "/" + strings.TrimPrefix(real, m.Source.Real))
	if standingAt(o.p, name) != m || hides(o.p, name) {
		return false
	}
	for i := range o.p.Mounts {
		if other := &o.p.Mounts[i]; other != m && under(other.Target, name) {
			return false
		}
	}
	for i := range o.p.Hide {
		if h := &o.p.Hide[i]; under(h.Real, name) || under(h.Abs, name) {
			return false
		}
	}
	return true
}

// standingAt is the mount that a name leads into: of those above it the deepest.
func standingAt(r *Resolved, name string) *MountAt {
	var deepest *MountAt
	for i := range r.Mounts {
		if m := &r.Mounts[i]; under(name, m.Target) && (deepest == nil || len(m.Target) > len(deepest.Target)) {
			deepest = m
		}
	}
	return deepest
}

// covers tells what of parent's lies beneath a source and would be in view at
// another target, where neither mask nor mount of its own stands.
func (o *order) covers(source, target string) string {
	if source == target {
		return ""
	}
	for i := range o.p.Hide {
		if h := &o.p.Hide[i]; under(h.Real, source) {
			return odd(h.Abs) + " in it hidden (" + h.At + ")"
		}
	}
	if o.p.Private && o.lists.Holds != nil && !o.opened(source) && o.lists.Holds(source, o.p.Home) {
		return "secrets in it hidden (" + o.privateBy() + ")"
	}
	for i := range o.p.Mounts {
		if m := &o.p.Mounts[i]; under(m.Target, source) {
			return "a mount at " + odd(m.Target) + " in it (" + m.At + ")"
		}
	}
	return ""
}
