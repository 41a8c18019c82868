package wrap

import (
	"slices"
	"strings"
	"unicode/utf8"

	"sbx/spec"
	"sbx/wrap/defaults"
)

// Reading is the line of a spec that puts a path into view and keeps there what is; ""
// for a path that no document can name, and for one that is listed.
func Reading(r *spec.Resolved, path string) string {
	if lists := reading(r, path); len(lists) > 0 {
		return spec.Line(fieldRead, lists[0])
	}
	return ""
}

// reading are the lists of filesystem.read that put a path into view: a list where there
// is none would take the rest of the host away. Of the system's programs and libraries
// one alone is of little use.
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

// Writing is the line that lets a path be written, and what could be; "" for a path that
// no document can name.
func Writing(r *spec.Resolved, path string) string {
	return spec.Longer(fieldWrite, r.Spec.Filesystem.Value.Write.Value, spelled(r, path))
}

// WritingSet returns the line that opens a path by the name of the set of caches it belongs to; ""
// if it belongs to none.
func WritingSet(r *spec.Resolved, path string) string {
	return spec.Longer(fieldWrite, r.Spec.Filesystem.Value.Write.Value, r.PresetFor(path))
}

// Starting is the line that lets a program be started, and those that could be.
func Starting(r *spec.Resolved, program string) string {
	return spec.Longer(fieldAllow, r.Spec.Commands.Value.Allow.Value, program)
}

// Undenied is the line that does not deny a program, by the name that denies it.
func Undenied(r *spec.Resolved, name string) string {
	list := slices.Clone(r.Spec.Commands.Value.Deny.Value)
	return spec.Line(fieldDeny, slices.DeleteFunc(list, func(s string) bool { return s == name }))
}

// spelled is a path as a document names it; "" where none can.
func spelled(r *spec.Resolved, path string) string {
	if named, ok := spec.Spelled(Relative(r, path)); ok {
		return named
	}
	return ""
}

// Relative is a path as it counts from the working directory; one that lies elsewhere
// stays as it is.
func Relative(r *spec.Resolved, path string) string {
	if rel, ok := strings.CutPrefix(path, r.WorkingDir.Real+"/"); ok && rel != "" {
		return rel
	}
	return path
}

// Allows is a line of the spec as a hint.
func Allows(line string) string {
	if line == "" {
		return ""
	}
	return line + " would allow it"
}
