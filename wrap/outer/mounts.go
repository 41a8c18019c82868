package outer

import (
	"slices"
	"strconv"

	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
)

// check refuses an invocation that is malformed or names mounts that the sandbox does not show.
func (w *wrapper) check(inv *Invocation) error {
	ps := inv.Check()
	if len(ps) > 0 {
		return ps
	}
	for i := range inv.Mounts {
		if p := w.unknown(&inv.Mounts[i], i); p != nil {
			ps = append(ps, p)
		}
	}
	if len(ps) > 0 {
		return ps
	}
	return nil
}

// unknown returns a problem where the sandbox does not show a mount in its mode.
func (w *wrapper) unknown(m *DirMount, i int) *spec.Problem {
	if w.name == nameNone || slices.Contains(w.a.Mounts, *m) {
		return nil
	}
	rw, seen := w.view(m.HostPath)
	why := "the sandbox does not show it"
	switch {
	case seen && rw == (m.Mode == spec.MountRW):
		return nil
	case seen && rw:
		why = "the sandbox lets it be written"
	case seen:
		why = "the sandbox shows it read-only"
	}
	return &spec.Problem{Field: spec.Field("mounts[" + strconv.Itoa(i) + "]"), On: m.HostPath, Do: "mount it " + m.Mode.String(), Why: why,
		Help: "name the mount when the wrapper is made, or open it in the spec"}
}

// checkMounts refuses directories that the Plan does not show in the requested mode.
func (w *wrapper) checkMounts(all []DirMount) {
	if w.name == nameNone {
		return
	}
	for i := range all {
		m := &all[i]
		if rw, seen := w.view(w.real(m.HostPath)); seen && (rw == (m.Mode == spec.MountRW) || m.Mode == spec.MountRO && writableElsewhere(m, all)) {
			continue
		}
		w.refuse(spec.Field("mounts["+strconv.Itoa(i)+"]"), "show "+m.HostPath+" "+m.Mode.String(), "the spec does not open it so", "name it in filesystem.mounts")
	}
}

// writableElsewhere reports whether another mount makes the same directory writable, which
// decides.
func writableElsewhere(m *DirMount, all []DirMount) bool {
	return slices.ContainsFunc(all, func(o DirMount) bool { return o.HostPath == m.HostPath && o.Mode == spec.MountRW })
}

// real returns a directory of the host with its links resolved, as the spec's mounts have it.
func (w *wrapper) real(path string) string {
	for i := range w.a.Resolved.Mounts {
		if s := &w.a.Resolved.Mounts[i].Source; s.Abs == path {
			return s.Real
		}
	}
	return path
}

// view reports whether a path of the host is in view inside under the same name, and whether
// it is writable there.
func (w *wrapper) view(path string) (rw, seen bool) {
	for i := len(w.nodes) - 1; i >= 0; i-- {
		n := &w.nodes[i]
		if n.Kind == wrap.NodeReadOnly || !view.Within(path, n.Path) {
			continue
		}
		how := shown(n)
		if how == "tmpfs" || how == "dir" {
			return how == "tmpfs", path == n.Path
		}
		return how == "rw", how != "no"
	}
	return false, false
}

// shown returns the word of a template for how a node shows its path.
func shown(n *wrap.Node) string {
	switch {
	case n.Kind == wrap.NodeBind && n.Mode == wrap.ModeRO:
		return "ro"
	case n.Kind == wrap.NodeBind:
		return "rw"
	case n.Kind == wrap.NodeTmpfs:
		return "tmpfs"
	case n.Kind == wrap.NodeDir:
		return "dir"
	}
	return "no"
}
