package wrap

import (
	"slices"
	"strings"

	"sbx/spec"
)

// virtual puts a workshop's tree in view at its virtual path too ("/src" for
// ROOT/src), since its workers' texts speak so: each directory that lies directly
// in the root, or the part that restrict leaves, is bound there. All else in the
// root becomes a link to its own path: a bind of a file would go on showing
// what another file has replaced, as editors do.
func (b *virtual) virtual() {
	root, part := b.r.Root.Real, b.r.Restricted
	if root == "" || root == "/" || b.plan.Rung > RungRoot {
		return // no tree, one that is at its virtual path, or no mounts
	}
	if part.Real != root {
		at := part.Real[len(root):]
		b.virtualBind(part, at)
		if asked := "/" + strings.Trim(lexical(part.Asked), "/"); asked != at {
			b.virtualLink(asked, part.Real)
		}
		return
	}
	list := b.h.listing(root)
	if list == nil || list.Cut {
		b.lack(&spec.Problem{Field: "sandbox.root", On: b.r.At("sandbox.root"), Do: "show " + root + " at virtual paths",
			Why:  "its names cannot all be read, so what lies in it is in view at its own path alone",
			Help: "let the directory be read, or list \"sandbox.root\" in best_effort"}, Degraded)
		return
	}
	for _, e := range list.Entries {
		own := root + "/" + e.Name
		if e.Kind == Dir {
			b.virtualBind(spec.Path{Abs: own, Real: own, Exists: true, IsDir: true}, "/"+e.Name)
		} else {
			b.virtualLink("/"+e.Name, own)
		}
	}
}

// virtualBind binds a directory of the workshop's tree at its path from the root. It
// can be written there where it can be at its own path.
func (b *virtual) virtualBind(source spec.Path, at string) {
	mode := spec.MountRO
	if !b.r.ReadOnly && b.inWritable(source.Real) {
		mode = spec.MountRW
	}
	if b.free(source.Real, at) {
		source.Field = "sandbox.root"
		b.bind(source, at, mode)
	}
}

func (b *virtual) virtualLink(at, own string) {
	if b.free(own, at) {
		b.namings = append(b.namings, [2]string{at, own})
	}
}

// free reports whether nothing else is to be seen at a virtual path, nor under it. What
// has none is in view at its own path alone.
func (b *virtual) free(own, at string) bool {
	why := b.taken(at)
	if why != "" {
		b.unplaced = append(b.unplaced, own+" ("+why+")")
	}
	return why == ""
}

// tellUnplaced says what of a workshop's tree has no virtual path.
func (b *fieldLines) tellUnplaced() {
	if len(b.unplaced) == 0 {
		return
	}
	text := "in view at its own path alone: " + strings.Join(b.unplaced, ", ")
	b.note("sandbox.root", text)
	b.plan.Warnings = append(b.plan.Warnings, spec.Warning{Field: "sandbox.root", On: b.r.At("sandbox.root"), Text: text})
}

// ownPlaces are the directories that every sandbox with an empty root has.
var ownPlaces = [...]string{"/proc", "/dev", "/sys", "/run", "/tmp", "/var/tmp"}

// taken says what is in the way of a virtual path; "" where nothing is.
func (b *virtual) taken(at string) string {
	meets := func(path string) bool { return under(path, at) || under(at, path) }
	for _, s := range b.h.System {
		if meets(s.Path) {
			return "the system has " + s.Path + " there"
		}
	}
	for _, dir := range ownPlaces {
		if meets(dir) {
			return "the sandbox has " + dir + " there"
		}
	}
	for _, p := range slices.Concat([]spec.Path{b.r.Root, b.r.WorkingDir}, b.r.Read, b.r.Write) {
		for _, path := range []string{p.Abs, p.Real} {
			if path != "" && meets(path) {
				return path + " is in view there"
			}
		}
	}
	if b.h.Home != "" && under(b.h.Home, at) {
		return "the home directory is " + b.h.Home
	}
	for i := range b.binds { // one under a virtual path is mounted on it
		if m := &b.binds[i]; under(at, m.Target) {
			return "a mount has " + m.Target + " there"
		}
	}
	return ""
}

// placeVirtual makes the links of a workshop's tree.
func (b *builder) placeVirtual() {
	for _, l := range b.namings {
		b.symlink(l[0], l[1])
	}
}

// lexical is a path without "." and "..", which resolving has shown to stay
// within the root.
func lexical(path string) string {
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case part == "" || part == ".":
		case part != "..":
			parts = append(parts, part)
		case len(parts) > 0:
			parts = parts[:len(parts)-1]
		}
	}
	return strings.Join(parts, "/")
}
