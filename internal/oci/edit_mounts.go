package oci

import (
	"slices"
	"strconv"
	"strings"

	"sbx/internal/doc"
	"sbx/internal/oci/walls"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
)

// files edits the container's root and mounts.
func (e *editor) files(init bool) error {
	if err := e.mounts(init); err != nil {
		return err
	}
	if e.plan.Base != wrap.BaseEmpty { // the engine's root, made absolute since the edited copy is in another directory
		e.set("root.path", doc.Str(e.c.Root), "")
		return nil
	}
	// An engine starts each process of exec in the working directory, even if it is not in view.
	root, err := e.root(append(slices.Clip(e.nodes), wrap.Node{Kind: wrap.NodeDir, Path: e.c.Cwd}))
	e.set("root.path", doc.Str(root), "only what is listed is in view")
	return err
}

// mounts sets the container's own mounts, read-only if they contain nothing writable, followed
// by the spec's. If the spec has a root of its own, only mounts in view are kept.
func (e *editor) mounts(init bool) error {
	var all []*doc.Node
	if e.plan.Base != wrap.BaseEmpty {
		e.looked.mounted("/", e.s.root)
	}
	add := func(m Mount, seen int) {
		all = append(all, m.node())
		e.looked.mounted(m.Target, seen)
	}
	for i := range e.s.Places {
		p := &e.s.Places[i]
		if why := e.unseen(p); why != nil {
			return why
		}
		if e.keeps(p) {
			add(e.own(i, p.Path, p.Path)) // with links resolved, since something may change a link meanwhile
		}
	}
	if e.confines() {
		e.set("root.readonly", doc.Truth(true), "nothing of the image can be written")
		if strings.HasSuffix(doc.Text(at(e.c.Config, "linux.rootfsPropagation")), "shared") {
			e.set("linux.rootfsPropagation", doc.Str("rslave"), "no mount of the container comes to be on the host")
		}
	}
	for i := range e.nodes {
		n := &e.nodes[i]
		m, seen, err := e.mount(n)
		if err != nil {
			return err
		}
		if m.Target == "" {
			continue
		}
		add(m, seen)
		if n.Kind != wrap.NodeBind {
			continue
		}
		for j := range e.s.Places { // the engine's mounts under the directory, which a bind mount of the directory would lack
			at := e.s.Places[j].Path
			if at == n.Source || !view.Within(at, n.Source) || e.s.files.over(at) != &e.s.Places[j] {
				continue
			}
			target := strings.TrimSuffix(n.Path, "/") + strings.TrimPrefix(at, strings.TrimSuffix(n.Source, "/"))
			if g := e.plan.View.At(target); g.Access >= view.Read && g.Source == at {
				add(e.own(j, target, target))
			}
		}
	}
	if init {
		dev, err := e.dev()
		if err != nil {
			return err
		}
		all = append(dev, all...)
		for _, f := range []string{walls.Init, walls.File} {
			if e.programs[f] != "" {
				add(Mount{Target: f, Type: "bind", Source: e.programs[f], Options: []string{"bind", "ro", "nosuid", "nodev"}}, -1)
			}
		}
	}
	e.set("mounts", doc.ListOf(all...), "files")
	return nil
}

// confines reports whether the spec restricts the container's files.
func (e *editor) confines() bool {
	return e.s.Resolved.Confined && e.plan.Base != wrap.BaseHost
}

// typed are the file systems, apart from bind mounts, that contain no file when they are mounted,
// or only files of the kernel. sbx-oci has inspected the files of bind mounts, but not those of any
// other type.
var typed = []string{"tmpfs", "proc", "sysfs", "devpts", "mqueue", "cgroup", "cgroup2"}

// unseen returns the error for a mount whose files sbx-oci cannot inspect or keep masked, so that it
// would miss files in it that must be hidden or protected.
func (e *editor) unseen(p *Place) error {
	refuse := func(why, help string) error {
		return &spec.Problem{On: p.Target, Do: "hold the spec in the container", Why: why, Help: help}
	}
	switch {
	case p.Path == "/":
		return refuse("a volume is mounted over its root", "have the volume as the container's root")
	case p.has("remount"):
		return refuse("remount is among its options: what is mounted there would stay, and change", "leave the option out")
	case !e.confines():
	case p.inProcess():
		return refuse("it is in the directory of a process, where the runtime's own files of /proc lie", "mount it elsewhere")
	case p.binds():
	case p.Type == "proc" && p.Path != "/proc" || p.Type == "sysfs" && p.Path != sysfs:
		return refuse("the kernel's settings, masked in /proc and /sys, would be open there", "leave the mount out")
	case !slices.Contains(typed, p.Type):
		return refuse("a file system of type "+spec.Word(p.Type)+" is mounted there, which the container alone will have", "mount it on the host, and bind it")
	}
	return nil
}

// keeps reports whether the container keeps a mount of its engine. The container does not keep a
// mount if the spec shows something else at the mount's path: that would cover the mount, and when
// runc later makes a tmpfs read-only by its path, it would hit the covering mount.
func (e *editor) keeps(p *Place) bool {
	if !e.confines() || p.ofRuntime() {
		return true
	}
	return (e.plan.Base != wrap.BaseEmpty || kernels(p.Path)) && e.shows(p)
}

// shows reports whether a mount of the engine is in view at its own path.
func (e *editor) shows(p *Place) bool {
	g := e.plan.View.At(p.Path)
	return g.Access >= view.Read && g.Source == p.Path
}

// own returns the container's ith mount for a target, restricted as the spec demands for path, and a
// descriptor of its source.
func (e *editor) own(i int, target, path string) (m Mount, seen int) {
	place := &e.s.Places[i]
	m, seen = *place.Mount, place.tree
	m.Target, m.Options = target, slices.Clone(m.Options)
	if m.binds() && place.Path == "/dev/shm" && e.s.Resolved.Private { // not the shared memory of other containers
		m = Mount{Target: target, Type: "tmpfs", Source: "shm", Options: []string{"nosuid", "nodev", "noexec", "mode=1777"}}
	}
	if !m.binds() {
		seen = -1
	}
	if !e.confines() {
		return m, seen
	}
	if !place.ofRuntime() && (e.plan.View.At(path).Access < view.Write || !m.binds() && m.Type != "tmpfs") {
		m.closed()
	}
	for i, o := range m.Options { // a mount over the container's files must not appear on the host
		if o == "shared" || o == "rshared" {
			m.Options[i] = strings.Replace(o, "shared", "slave", 1)
		}
	}
	if m.binds() {
		m.option("nosuid")
		m.option("nodev")
		m.restrict(place.Held) // the runtime would drop these with the two above
	}
	if place.IsFile {
		m.single()
	}
	return m, seen
}

// single makes m the bind mount of a file: crun's recursive read-only works on directories only.
func (m *Mount) single() {
	m.Options = slices.DeleteFunc(m.Options, func(o string) bool { return o == "rbind" || o == "rro" })
	m.option("bind")
}

// closed makes a mount and all its submounts read-only.
func (m *Mount) closed() {
	m.Options = slices.DeleteFunc(m.Options, func(o string) bool { return o == "rw" })
	m.option("ro")
	if m.has("rbind") || m.Type == "bind" && !m.has("bind") {
		m.option("rro")
	}
}

// restrict adds those of the given options that restrict a mount.
func (m *Mount) restrict(options []string) {
	for _, o := range options {
		switch o {
		case "ro":
			m.closed()
		case "rro", "noexec", "rnoexec", "nosymfollow", "rnosymfollow", "noatime", "nodiratime", "idmap", "ridmap":
			m.option(o)
		}
	}
}

func (m *Mount) option(o string) {
	if !m.has(o) {
		m.Options = append(m.Options, o)
	}
}

// mount converts a node of the plan to a mount of config.json; the zero Mount if it needs none. seen is a
// descriptor of the source that sbx-oci has looked at, and that the runtime binds by its path; -1 for none.
func (e *editor) mount(n *wrap.Node) (m Mount, seen int, err error) {
	if n.Path == "/" || kernels(n.Path) {
		return m, -1, nil // see proc
	}
	switch n.Kind {
	case wrap.NodeBind:
		return e.bind(n)
	case wrap.NodeTmpfs:
		perm := n.Perm
		if e.c.UID != 0 && perm&0o002 == 0 { // it would be owned by root
			m.Options = []string{"uid=" + strconv.Itoa(e.c.UID), "gid=" + strconv.Itoa(e.c.GID)}
		}
		m = Mount{Target: n.Path, Type: "tmpfs", Source: "tmpfs", Options: append(m.Options, "nosuid", "nodev", "mode="+strconv.FormatUint(uint64(max(perm, 0o700)), 8))}
		if n.Size > 0 {
			m.Options = append(m.Options, "size="+strconv.FormatInt(n.Size, 10))
		}
		if n.Closed {
			m.option("ro")
		}
	case wrap.NodeEmptyDir:
		m = Mount{Target: n.Path, Type: "tmpfs", Source: "tmpfs", Options: []string{"ro", "nosuid", "nodev", "mode=555", "size=4k"}}
	case wrap.NodeEmptyFile:
		m = Mount{Target: n.Path, Type: "bind", Source: "/dev/null", Options: []string{"bind", "ro", "nosuid"}}
	}
	return m, -1, nil
}

// bind returns the bind mount of one of the container's files or directories at a node's path, as mount.
func (e *editor) bind(n *wrap.Node) (m Mount, seen int, err error) {
	base, rest, place := e.c.Root, strings.TrimPrefix(n.Source, "/"), e.s.files.over(n.Source)
	if seen = e.s.root; place != nil {
		base, rest, seen = place.Source, strings.TrimPrefix(n.Source[len(place.Path):], "/"), place.tree
	}
	switch {
	case place == nil || place.binds():
	case e.plan.Base != wrap.BaseEmpty && n.Path == n.Source && e.shows(place):
		return m, -1, nil // visible already, as part of its file system
	case rest == "":
		m, seen = e.own(slices.IndexFunc(e.s.Places, func(p Place) bool { return p.Mount == place.Mount }), n.Path, n.Path)
		return m, seen, nil
	case place.Type == "sysfs" && n.For == "filesystem.read": // part of @system, and the same as the host's
		if strings.HasPrefix(rest, "fs/") { // files under fs/ differ in a container
			return m, -1, nil
		}
		base, seen = sysfs, -1
	default:
		return m, -1, &spec.Problem{Field: n.For, On: n.Source, Do: "have it in view", Why: place.Path + " is a file system that the container alone will have",
			Help: "name " + place.Path + " itself"}
	}
	m = Mount{Target: n.Path, Type: "bind", Options: []string{"rbind", "rprivate", "nosuid", "nodev"}}
	var as source
	if m.Source, as, err = e.hold(base, rest, seen); err != nil {
		return m, -1, &spec.Problem{Field: n.For, On: n.Source, Do: "hold it for the container", Why: err.Error()}
	}
	m.restrict(as.Held)
	switch { // the spec never widens access that the engine has restricted
	case place != nil:
		m.restrict(place.Options)
		if place.raw.Get("uidMappings") != nil {
			m.raw = place.raw
		}
	case base == e.c.Root && e.c.ReadOnly:
		m.closed()
	}
	if n.Mode == wrap.ModeRO || n.Closed {
		m.closed()
	}
	if as.IsFile {
		m.single()
	}
	if rest != "" {
		seen = -1 // the runtime binds what hold has
	}
	return m, seen, nil
}
