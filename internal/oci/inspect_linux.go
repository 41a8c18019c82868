package oci

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/sys"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
	"sbx/wrap/host"
)

// Seen holds the specs resolved against a container's own files, and the findings about those
// files.
type Seen struct {
	Resolved *spec.Resolved
	Inputs   spec.Inputs
	Host     wrap.Host
	Places   []Place // the container's mounts, in order
	Program  wrap.Program

	Dev  string // the container's /dev, symlinks resolved
	root int    // a descriptor of the container's root

	files *files
}

// sysfs is the host's sysfs. @system names parts of it, which are the same in every container.
const sysfs = "/sys"

// Place is a mount of the container with the symlinks of its target resolved.
type Place struct {
	*Mount
	Path   string
	source     // of a bind mount
	tree   int // a descriptor of its source; -1 for none
}

// ofEngine reports whether a mount is a file of the engine in /run, where the spec has a directory
// of its own: the program with which podman run --init starts the command, and the network's files
// if the image has links to /run in their places.
func (p *Place) ofEngine() bool {
	return p.IsFile && view.Within(p.Path, "/run") && slices.Contains([]string{"/run/podman-init", "/etc/resolv.conf", "/etc/hosts", "/etc/hostname"}, filepath.Clean(p.Target))
}

// inspect resolves documents against the files of a container that does not exist yet. It gives the
// calling thread a mount namespace that has the container's root as its root, so that no symlink
// of the image or a volume leads out of the container: it is called on a thread of its own.
func inspect(c *Container, docs []*spec.SandboxSpec, facts wrap.Host) (*Seen, error) {
	places, root, err := enter(c, slices.ContainsFunc(docs, func(d *spec.SandboxSpec) bool { return d.Filesystem.Value.Read.Set }))
	if err != nil {
		return nil, &spec.Problem{Do: "look at the container's files", Why: err.Error()}
	}
	home := sys.Variable(c.Env, "HOME")
	if home == "" {
		home = sys.PasswdHome(c.UID) // from /etc/passwd in this thread's root, the container's
	}
	var names host.Finder
	files := &files{places: places}
	in := spec.Inputs{Home: home, Cwd: c.Cwd, Environ: c.Env, UID: c.UID, Paths: files, Lists: defaults.Lists(), Find: names.Find}
	for _, d := range docs {
		d.Source.Dir = c.Cwd
	}
	chain, err := spec.Chain(docs, in)
	if err != nil {
		return nil, err
	}
	r := &chain[len(chain)-1]
	for i := range places {
		if p := &places[i]; p.ofEngine() {
			r.Mounts = append(r.Mounts, spec.MountAt{Mount: spec.Mount{Mode: spec.MountRO}, Source: spec.Path{Asked: p.Path, Abs: p.Path, Real: p.Path, Exists: true}, Target: p.Path})
		}
	}
	facts.UID, facts.GID = c.UID, c.GID
	facts.Overlay = wrap.Answer{State: wrap.No}
	h := host.SurveyOf(r, facts, func(name string) (string, bool) {
		for _, kv := range c.Env {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				return v, true
			}
		}
		return "", false
	})
	for _, row := range defaults.Devices() { // the runtime creates them
		h.Devices = append(h.Devices, wrap.Found{Path: row.Path, Real: row.Path, Kind: wrap.Device, Why: row.Why})
	}
	dev, err := realOf("/dev")
	seen := &Seen{Resolved: r, Inputs: in, Host: h, Places: places, Dev: dev, root: root, files: files}
	if p, outcome := host.LookUp(c.Args[0], r); outcome == host.Found { // otherwise the runtime reports it
		seen.Program = p
	}
	return seen, err
}

// enter makes the container's files the calling thread's root, in a mount namespace of its own. It
// creates missing mount points by the same rules as the runtime later will. lists says that a
// document lists the readable paths. root is an O_PATH descriptor.
func enter(c *Container, lists bool) (places []Place, root int, err error) {
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return nil, -1, os.NewSyscallError("unshare", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, -1, os.NewSyscallError("mount /", err)
	}
	if err := unix.Mount(c.Root, c.Root, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return nil, -1, &os.PathError{Op: "bind", Path: c.Root, Err: err}
	}
	trees := make([]int, len(c.Mounts))
	for i := range c.Mounts {
		m := &c.Mounts[i]
		source, flags := m.Source, uint(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		switch trees[i] = -1; {
		case m.Type == "sysfs" && lists:
			source = sysfs
			flags |= unix.AT_RECURSIVE // without privileges over the submounts, the kernel does not allow leaving them out
		case !m.binds():
			continue
		case !m.has("bind") || m.has("rbind"):
			flags |= unix.AT_RECURSIVE
		}
		fd, err := unix.OpenTree(unix.AT_FDCWD, source, flags)
		if err != nil {
			return nil, -1, &os.PathError{Op: "look at the source of a mount", Path: source, Err: err}
		}
		trees[i] = fd
	}
	if root, err = unix.Open(c.Root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return nil, -1, &os.PathError{Op: "enter", Path: c.Root, Err: err}
	}
	if err := unix.Fchdir(root); err != nil {
		return nil, -1, &os.PathError{Op: "enter", Path: c.Root, Err: err}
	}
	if err := unix.Chroot("."); err != nil {
		return nil, -1, os.NewSyscallError("chroot", err)
	}
	for i := range c.Mounts {
		p := Place{Mount: &c.Mounts[i], tree: trees[i]}
		if err := p.put(); err != nil {
			return nil, -1, &os.PathError{Op: "mount", Path: p.Target, Err: err}
		}
		places = append(places, p)
	}
	return places, root, os.MkdirAll(c.Cwd, 0o755)
}

// put mounts a Place in this thread's root: the mount tree of a bind, or an empty tmpfs.
func (p *Place) put() (err error) {
	p.Path, err = realOf(filepath.Clean(p.Target))
	if err != nil || p.tree < 0 && p.Type != "tmpfs" {
		return err
	}
	if p.tree >= 0 {
		if p.source, err = sourceOf(p.tree); err != nil {
			return err
		}
	}
	if _, err := os.Lstat(p.Path); os.IsNotExist(err) {
		if err := mountPoint(p.Path, p.IsFile); err != nil {
			return err
		}
	}
	if p.tree >= 0 {
		err := unix.MoveMount(p.tree, "", unix.AT_FDCWD, p.Path, unix.MOVE_MOUNT_F_EMPTY_PATH)
		if err == nil && p.has("ro") { // no mount point is created in a read-only mount: the runtime would not create one either
			err = unix.MountSetattr(unix.AT_FDCWD, p.Path, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
		}
		if err == unix.ENOSYS { // before Linux 5.12
			err = nil
		}
		return err
	}
	if p.has("tmpcopyup") { // the runtime fills the tmpfs with the contents of the directory under it
		return nil
	}
	return unix.Mount("tmpfs", p.Path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=1m")
}

// realOf resolves the symlinks of a path, as far as the path exists.
func realOf(path string) (string, error) { return realWithin(path, 40) }

func realWithin(path string, links int) (string, error) {
	real, err := spec.Real(path, spec.HostPaths{})
	if err != spec.NoEntry || path == "/" {
		return real, err
	}
	dir, err := realWithin(filepath.Dir(path), links)
	if err != nil {
		return "", err
	}
	real = filepath.Join(dir, filepath.Base(path))
	switch to, err := os.Readlink(real); { // the link leads to a path that does not exist yet
	case err != nil:
		return real, nil
	case links == 0:
		return "", unix.ELOOP
	default:
		return realWithin(from(dir, to), links-1)
	}
}

func mountPoint(path string, isFile bool) error {
	if !isFile {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	return f.Close()
}
