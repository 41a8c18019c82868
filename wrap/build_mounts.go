package wrap

import "sbx/spec"

// mounts lists the items of the sandbox's tree in order, and then makes the mount operations from
// them.
//
// The order decides what shows. First mounts takes clones of everything that will be writable or
// lies under a directory that will be covered, while the host's tree is still unchanged. Then one
// operation makes everything read-only, or an empty root is begun. Then follow, each over the ones
// before: covers that hide names, private directories, /dev and /proc, writable trees with their
// protected names, the spec's mounts, and last everything hidden by masks. So hide beats mounts,
// mounts beat write, and write beats read.
func (b *builder) mounts() {
	p := &b.plan
	p.Base = BasePlace
	p.Remount = b.h.SetAttr.State == No
	b.kernelsOwn()
	b.whole = !b.r.Visible && (b.addsToRoot() || b.req.NewRoot && b.h.listing("/") != nil) || b.readsRoot()
	if b.r.Visible || b.whole {
		p.Base = BaseEmpty
		p.Root = b.stage()
		b.prefix = p.Staged("")
	}
	b.privates()
	b.layHome()
	b.privateOwn()
	b.add(item{how: itemDetached, path: "/"})
	b.gatherHost()
	if p.Base == BasePlace {
		b.add(item{how: itemRooted, path: "/", source: "/", kind: Dir, mode: b.baseMode(), field: b.modeField()})
	}
	b.scratch()
	if p.Base == BaseEmpty {
		b.emptyRoot()
		b.placeVirtual()
	}
	b.covering.hideByName()
	if p.Base == BasePlace {
		b.placeParts()
		b.writeCopies()
	}
	b.dev()
	b.proc()
	b.placeRun()
	b.placeOwn()
	b.placeWritable()
	b.openSecrets()
	b.placeMounts()
	b.guards.wayToState()
	b.guards.closeWorkDir()
	b.guards.maskSecrets()
	b.guards.protect()
	b.guards.hide()
	b.guards.lostMounts()
	b.programs.placePrograms()
	b.placeSettings()
	b.guards.ownSources()
	b.guards.ownRecord()
	b.startDir()
	b.ownMasks()
	b.mount()
}

// readsRoot reports whether filesystem.read names the root directory.
func (b *builder) readsRoot() bool {
	for _, p := range b.r.Read {
		if p.Real == "/" {
			return b.h.listing("/") != nil
		}
	}
	return false
}

// addsToRoot reports whether the target of a mount is a new name in the root directory, which only
// a root of the sandbox's own can have.
func (b *builder) addsToRoot() bool {
	if b.h.listing("/") == nil {
		return false
	}
	for i := range b.binds {
		if dir, rest := b.lacking(b.binds[i].Target); rest != "" && dir == "/" {
			return true
		}
	}
	return false
}

// stage returns the directory of the host over which the new root is put together; no source of an
// item lies in it.
func (b *builder) stage() string {
	for _, dir := range []string{"/tmp", "/run", "/mnt", "/srv", "/var"} {
		if !b.whole && b.h.Kind(dir) == Dir && !b.isSource(dir) {
			return dir
		}
	}
	return "/proc" // never a source: the sandbox has a /proc of its own
}

func (b *builder) isSource(dir string) bool {
	for _, l := range [][]spec.Path{b.r.Read, b.r.Write} {
		for _, p := range l {
			if under(p.Real, dir) || under(p.Abs, dir) {
				return true
			}
		}
	}
	for _, m := range b.binds {
		if under(m.Source.Real, dir) {
			return true
		}
	}
	for _, w := range b.brokerWay() {
		if under(w.source, dir) {
			return true
		}
	}
	for _, l := range [][]Found{b.h.System, b.h.Keep} {
		for _, f := range l {
			if under(f.Path, dir) || under(f.Real, dir) {
				return true
			}
		}
	}
	return b.r.Root.Real != "" && under(b.r.Root.Real, dir)
}
