package outer

import (
	"strconv"

	"sbx/internal/doc"
	"sbx/internal/view"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// ociMounts returns the mounts of a bundle, in order. Runtimes make the nodes of /dev themselves. A
// mount that becomes read-only later says so by an option, which takes effect after everything is
// mounted. readonlyPaths would not do: crun binds such a path onto itself, with all mounts under
// it, before it has made those read-only.
func (w *bundler) ociMounts() string {
	m := ociList{}
	m.add("/proc", "proc", "proc", "nosuid", "noexec", "nodev")
	m.add("/dev", "tmpfs", "tmpfs", "nosuid", "strictatime", "mode=755", "size=65536k")
	m.add("/dev/pts", "devpts", "devpts", "nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620")
	m.add("/dev/shm", "tmpfs", "shm", "nosuid", "noexec", "nodev", "mode=1777")
	for i := range w.nodes {
		n := &w.nodes[i]
		if view.Within(n.Path, "/proc") || n.Path == "/" || view.Within(n.Path, "/dev") && n.For == wrap.FieldPrivate {
			continue
		}
		switch n.Kind {
		case wrap.NodeBind:
			m.add(n.Path, "bind", n.Source, w.ociBind(n, n.Mode == wrap.ModeRO || n.Closed)...)
		case wrap.NodeTmpfs:
			o := []string{"nosuid", "nodev", "mode=" + perms(max(n.Perm, 0o700))}
			if n.Size > 0 {
				o = append(o, "size="+strconv.FormatInt(n.Size, 10))
			}
			if n.Closed {
				o = append(o, "ro")
			}
			m.add(n.Path, "tmpfs", "tmpfs", o...)
		case wrap.NodeEmptyDir:
			m.add(n.Path, "tmpfs", "tmpfs", "ro", "nosuid", "nodev", "mode=0555", "size=4k")
		case wrap.NodeEmptyFile:
			m.add(n.Path, "bind", "/dev/null", "bind", "ro", "nosuid")
		}
	}
	return "[" + m.text + "]"
}

// ociBind returns the options with which a tree is bound. It requests that all mounts under it
// become read-only, too (rro, runc 1.1 and crun 1.4), only if there are such mounts: older versions
// of gVisor, which always does that, do not know the option.
func (w *bundler) ociBind(n *wrap.Node, ro bool) []string {
	o := []string{"rbind", "rprivate", "nosuid", "nodev"}
	if n.Path == "/dev" { // the host's own, with its devices
		o = o[:3]
	}
	if !ro {
		return append(o, "rw")
	}
	o = append(o, "ro")
	if w.mountsBeneath(n.Source) {
		o = append(o, "rro")
	}
	return o
}

// ociMasked lists the hidden paths of /proc, ociReadOnly the read-only ones. Runtimes pass over
// names that the kernel lacks.
func (w *bundler) ociMasked() (paths []string) {
	for _, row := range defaults.ProcMasked() {
		paths = append(paths, "/proc/"+row.Path)
	}
	return paths
}

func (w *bundler) ociReadOnly() (paths []string) {
	for _, row := range defaults.ProcReadOnly() {
		paths = append(paths, "/proc/"+row.Path)
	}
	for i := range w.nodes {
		if n := &w.nodes[i]; n.Kind == wrap.NodeReadOnly && !view.Within(n.Path, "/proc") && n.Path != "/" && !n.Closed {
			paths = append(paths, n.Path)
		}
	}
	return paths
}

// ociList is a list of mounts while it is written.
type ociList struct{ text string }

func (m *ociList) add(target, kind, source string, options ...string) {
	if m.text != "" {
		m.text += ",\n    "
	}
	m.text += `{"destination": ` + string(doc.AppendShown(nil, target)) + `, "type": "` + kind + `", "source": ` + string(doc.AppendShown(nil, source)) +
		`, "options": ` + bracketed(options) + "}"
}

// bracketed returns a list of strings as JSON.
func bracketed(list []string) string {
	return string(append(appendList([]byte{'['}, list), ']'))
}
