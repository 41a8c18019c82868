package listen

import (
	"golang.org/x/sys/unix"

	"sbx/audit/guard"
	"sbx/internal/view"
	"sbx/wrap"
)

// Rules says which paths may not be created, changed or moved. Its functions take paths
// of the host.
type Rules struct {
	Views []wrap.View // the writable trees, inside and on the host
	// Forbids reports whether a path must not be created.
	Forbids func(path string) bool
	// Empty reports whether a forbidden path may still be created as an empty directory;
	// nil for never.
	Empty func(path string) bool
	// Links reports whether a path must not become a symbolic link; nil for no path.
	Links func(path string) bool
	// Part reports whether a name may belong to a forbidden path. It is used if the
	// directory is unknown.
	Part func(name string) bool
	// Closed reports whether a path inside must not be written although its mount is
	// writable: the sandbox has no mounts. nil for no path.
	Closed func(path string) bool
	// Guards returns how a path is guarded, and the innermost mount above it, even if the
	// mounts are missing at the moment. Guarded reports whether a name may be the last one
	// of a mount point; nil for no name.
	Guards  func(path string) (g guard.Kind, mount string)
	Guarded func(name string) bool
}

// Host translates a path inside to the host's; ok is false outside the writable trees.
func (r *Rules) Host(inside string) (path string, ok bool) {
	best := -1
	for i, v := range r.Views {
		if len(inside) > len(v.Inside) && view.Within(inside, v.Inside) && (best < 0 || len(v.Inside) > len(r.Views[best].Inside)) {
			best = i
		}
	}
	if best < 0 || r.Views[best].Tree == "" {
		return "", false
	}
	v := &r.Views[best]
	if v.Inside == v.Tree {
		return inside, true
	}
	return v.Tree + inside[len(v.Inside):], true
}

// host returns an entry's path on the host.
func (r *Rules) host(d *entry) (path string, ok bool) {
	if !d.ok {
		return "", false
	}
	return r.Host(text(d.path))
}

// stops reports whether creating an entry must be denied. It leaves mount points and
// read-only directories to the kernel, which denies the call.
func (r *Rules) stops(d *entry) bool {
	switch {
	case len(r.Views) == 0: // unchecked, as the record says
		return false
	case d.unread:
		return true
	case d.odd:
		return r.Part(d.text())
	case d.mounted:
		return false
	}
	host, ok := r.host(d)
	return ok && r.Forbids(host) && !d.isFixed()
}

// fixed reports whether an entry can be neither created nor removed.
func (r *Rules) fixed(d *entry) bool {
	return d.ok && (d.isFixed() || r.closes(d) && access(d.dir, unix.W_OK) == 0)
}

// closes reports whether an entry's path is in Closed.
func (r *Rules) closes(d *entry) bool { return r.Closed != nil && r.Closed(d.text()) }

// unguarded reports whether an existing file must be read-only but has lost the mount for it.
func (r *Rules) unguarded(d *entry) bool {
	host, ok := r.host(d)
	if !ok || !d.exists || d.mounted {
		return false
	}
	g, _ := r.Guards(host)
	return g != guard.Unguarded && g != guard.Pinned && !d.isFixed()
}

// readOnly reports whether the kernel will deny to open an existing file for writing
// because it is read-only inside the sandbox. That excludes directories and files without
// write permission, which cannot be opened for writing outside either.
func (r *Rules) readOnly(d *entry) bool {
	if d.kind != unix.S_IFREG {
		return false
	}
	closed := r.closes(d)
	if !closed && !d.mounted && !d.on().fixed {
		return false
	}
	e := accessAt(d.dir, d.name, unix.W_OK)
	return e == unix.EROFS || e == 0 && closed
}

// guard returns how a mount guards an entry's path, see Guards. A bind mount that protects
// a file is detached when the host replaces that file, perhaps between the listener's check
// and the kernel's. So the listener itself denies, by path alone, each call that the kernel
// would deny because of such a mount.
func (r *Rules) guard(d *entry) (g guard.Kind, mount string) {
	host, ok := r.host(d)
	if !ok || r.Closed != nil { // a sandbox without mounts has no guards
		return guard.Unguarded, ""
	}
	return r.Guards(host)
}

// matters reports whether the removal of a file with this name (NUL-terminated) may have to
// be denied, depending on its directory.
func (r *Rules) matters(name []byte) bool {
	return r.Closed != nil || r.Guarded != nil && r.Guarded(text(name))
}

// linkStops reports whether an entry must not become a symbolic link.
func (r *Rules) linkStops(d *entry) bool {
	host, ok := r.host(d)
	return ok && !d.mounted && r.Links(host) && !d.isFixed()
}

// mayMake reports whether an entry may be created as an empty directory, see Empty.
func (r *Rules) mayMake(d *entry) bool {
	host, ok := r.host(d)
	return ok && r.Empty != nil && r.Empty(host)
}
