package wrap

import (
	"slices"
	"strings"

	"sbx/spec"
)

// virtual also shows a workshop's tree at its virtual path ("/src" for ROOT/src), because the texts
// of its workers use such paths. It binds each directory that lies directly in the root, or only
// the part that restrict leaves. Every other entry of the root becomes a link to its own path: a
// bind of a file would keep showing the old file when an editor replaces it.
func (b *virtual) virtual() {
	root, part := b.r.Root.Real, b.r.Restricted
	if root == "" || root == "/" || b.plan.Rung > RungRoot {
		return // no tree, a tree whose own path is the virtual one, or no mounts
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

// virtualBind binds a directory of the workshop's tree at its path relative to the root. The
// command may write there if it may write at the directory's own path.
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

// free reports whether a virtual path is free: nothing else shows there or under it. If it is
// taken, own shows only at its own path.
func (b *virtual) free(own, at string) bool {
	why := b.taken(at)
	if why != "" {
		b.unplaced = append(b.unplaced, own+" ("+why+")")
	}
	return why == ""
}

// reportUnplaced reports the entries of a workshop's tree that have no virtual path.
func (b *fieldLines) reportUnplaced() {
	if len(b.unplaced) == 0 {
		return
	}
	text := "in view at its own path alone: " + strings.Join(b.unplaced, ", ")
	b.note("sandbox.root", text)
	b.plan.Warnings = append(b.plan.Warnings, spec.Warning{Field: "sandbox.root", On: b.r.At("sandbox.root"), Text: text})
}

// ownPlaces are the directories that every sandbox with an empty root has.
var ownPlaces = [...]string{"/proc", "/dev", "/sys", "/run", "/tmp", "/var/tmp"}

// taken says what already uses a virtual path; "" if nothing does.
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
	for i := range b.binds { // only mounts above it are in the way: one under a virtual path is mounted on it
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

// lexical removes "." and ".." from path. Resolving has shown that the path stays within the root.
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
