package wrap

import (
	"slices"
	"strings"
	"unicode/utf8"

	"sbx/spec"
	"sbx/wrap/defaults"
)

// Reading returns the line of a spec that puts a path into view and keeps the present ones in view;
// "" for a path that no document can name, and for one that is listed already.
func Reading(r *spec.Resolved, path string) string {
	if lists := reading(r, path); len(lists) > 0 {
		return spec.Line(fieldRead, lists[0])
	}
	return ""
}

// reading returns values of filesystem.read that put a path into view. If the spec has no such list
// yet, the value includes "/", since a list hides the rest of the host. For one of the system's
// files all of @system is suggested first, because a single program or library is of little use.
func reading(r *spec.Resolved, path string) (lists [][]string) {
	list, name := slices.Clip(r.Spec.Filesystem.Value.Read.Value), spelled(r, path)
	if path != "" && r.Visible && !r.System && defaults.Lists().System(path) {
		lists = append(lists, append([]string{spec.System}, list...))
	}
	switch {
	case name == "" || !utf8.ValidString(name) || slices.Contains(list, name):
		return lists
	case !r.Visible:
		list = []string{"/"}
	}
	return append(lists, append(list, name))
}

// Writing returns the line that makes a path writable and keeps the present ones; "" for a path
// that no document can name.
func Writing(r *spec.Resolved, path string) string {
	return spec.Longer(fieldWrite, r.Spec.Filesystem.Value.Write.Value, spelled(r, path))
}

// WritingSet returns the line that opens a path by the name of the set of caches it belongs to; ""
// if it belongs to none.
func WritingSet(r *spec.Resolved, path string) string {
	return spec.Longer(fieldWrite, r.Spec.Filesystem.Value.Write.Value, r.PresetFor(path))
}

// Starting returns the line that allows a program in addition to the present ones.
func Starting(r *spec.Resolved, program string) string {
	return spec.Longer(fieldAllow, r.Spec.Commands.Value.Allow.Value, program)
}

// Undenied returns the line that denies no program by this name.
func Undenied(r *spec.Resolved, name string) string {
	list := slices.Clone(r.Spec.Commands.Value.Deny.Value)
	return spec.Line(fieldDeny, slices.DeleteFunc(list, func(s string) bool { return s == name }))
}

// spelled returns a path as a document names it; "" if no document can.
func spelled(r *spec.Resolved, path string) string {
	if named, ok := spec.Spelled(Relative(r, path)); ok {
		return named
	}
	return ""
}

// Relative returns a path relative to the working directory; a path outside of it stays as it is.
func Relative(r *spec.Resolved, path string) string {
	if rel, ok := strings.CutPrefix(path, r.WorkingDir.Real+"/"); ok && rel != "" {
		return rel
	}
	return path
}

// Allows returns a hint that a line of the spec would allow the denied act.
func Allows(line string) string {
	if line == "" {
		return ""
	}
	return line + " would allow it"
}
