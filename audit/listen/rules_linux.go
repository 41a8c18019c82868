package listen

import (
	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/view"
	"sbx/wrap"
)

// Rules is what must not become of names, by their paths on the host.
type Rules struct {
	Views []wrap.View // where the writable trees are
	// Forbids tells whether a name of the host must not come into being.
	Forbids func(path string) bool
	// Empty tells whether it may be all the same where it is a new directory's; nil for
	// never.
	Empty func(path string) bool
	// Links tells whether no symbolic link must come to stand at a path; nil for
	// anywhere.
	Links func(path string) bool
	// Part tells whether a name may be one that must not come into being, where its
	// directory cannot be told.
	Part func(name string) bool
	// Closed tells whether a path may not be written although its mount may; nil for
	// none.
	Closed func(path string) bool
	// Guards is how one is guarded, and the innermost mount that it lies beneath, whether
	// the mounts are there at that moment or not. Guarded tells whether a name may be
	// that of one on which a mount lies; nil for no name.
	Guards  func(path string) (g audit.Guard, mount string)
	Guarded func(name string) bool
}

// Host is a path of a writable tree as the host has it.
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

// host is where on the host a name lands.
func (r *Rules) host(d *entry) (path string, ok bool) {
	if !d.ok {
		return "", false
	}
	return r.Host(text(d.path))
}

// stops tells whether a name must not come into being where it lands. What is
// mounted there nobody can replace, and in a directory that may only be read
// nothing comes into being.
func (r *Rules) stops(d *entry) bool {
	switch {
	case len(r.Views) == 0: // the record says that nobody looks
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

// fixed tells whether nothing can be made or removed where a name lands.
func (r *Rules) fixed(d *entry) bool {
	return d.ok && (d.isFixed() || r.closes(d) && access(d.dir, unix.W_OK) == 0)
}

// closes tells whether where a name lands may not be written although its mount may.
func (r *Rules) closes(d *entry) bool { return r.Closed != nil && r.Closed(d.text()) }

// bare tells whether what lands is to be read-only and has no mount that makes it so.
func (r *Rules) bare(d *entry) bool {
	host, ok := r.host(d)
	if !ok || !d.exists || d.mounted {
		return false
	}
	g, _ := r.Guards(host)
	return g != audit.Unguarded && g != audit.Pinned && !d.isFixed()
}

// readOnly tells whether the kernel refuses to open what is there for writing
// because it may only be read inside. A directory is refused for what it is, and
// what the user may not write is no matter of the sandbox's.
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

// guard is how what lands is guarded by a mount.
func (r *Rules) guard(d *entry) (g audit.Guard, mount string) {
	host, ok := r.host(d)
	if !ok || r.Closed != nil { // without mounts nothing of the kind is answered
		return audit.Unguarded, ""
	}
	return r.Guards(host)
}

// matters tells whether it matters where a name lies, with its NUL, that goes.
func (r *Rules) matters(name []byte) bool {
	return r.Closed != nil || r.Guarded != nil && r.Guarded(text(name))
}

// linkStops tells whether no symbolic link must come to stand where it lands.
func (r *Rules) linkStops(d *entry) bool {
	host, ok := r.host(d)
	return ok && !d.mounted && r.Links(host) && !d.isFixed()
}

// mayMake tells whether what stops a name does not stop an empty directory.
func (r *Rules) mayMake(d *entry) bool {
	host, ok := r.host(d)
	return ok && r.Empty != nil && r.Empty(host)
}
