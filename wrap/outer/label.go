package outer

import (
	"slices"
	"strings"

	"sbx/internal/view"
	"sbx/spec"
)

// alias is the label by which an audit names a directory of the host. Where all is true the
// label also stands for the paths inside, whose names stay private.
type alias struct {
	path, label string
	all         bool
}

// aliases returns the directories that have a label, the deepest first.
func (w *wrapper) aliases() labels {
	var all []alias
	r := w.a.Resolved
	add := func(path, label string) {
		if path == "" || path == "/" || label == "" {
			return
		}
		if !slices.ContainsFunc(all, func(a alias) bool { return a.path == path }) {
			all = append(all, alias{path: path, label: label, all: label == "<home>"})
		}
	}
	for _, m := range w.a.Mounts {
		add(m.HostPath, "<"+m.Label+">")
	}
	for _, m := range w.a.Mounts {
		add(m.GuestPath, m.GuestPath)
	}
	for i := range r.Mounts {
		m := &r.Mounts[i]
		add(m.Source.Real, "<"+m.Label+">")
		add(m.Source.Abs, "<"+m.Label+">")
	}
	if r.Job != nil {
		add(r.Job.Input.Real, "<input>")
		add(r.Job.Output.Real, "<output>")
		for _, dir := range []string{"/input", "/output", "/work"} {
			add(dir, dir)
		}
	}
	for _, p := range []spec.Path{r.WorkingDir, r.Root} {
		add(p.Real, "<cwd>")
		add(p.Abs, "<cwd>")
	}
	add(w.a.Host.Home, "<home>")
	add(w.a.Host.HomeReal, "<home>")
	for i := range all {
		if all[i].label == "<>" {
			all[i].label = "<mount>"
		}
	}
	slices.SortStableFunc(all, func(a, b alias) int { return len(b.path) - len(a.path) })
	return all
}

// common are directories that every system has: paths in them reveal nothing.
var common = [...]string{"/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/sbin", "/sys", "/usr"}

// tops are further directories whose own names reveal nothing; paths in them may.
var tops = [...]string{"/boot", "/home", "/opt", "/root", "/run", "/srv", "/tmp", "/var", "/var/run", "/var/tmp"}

// These characters end a path in a text, and in an argument that begins with the path, where blanks
// and brackets may be part of it.
const (
	pathEnds  = ":,;\"'`()[]{}<>|&\\ \t\n"
	wholeEnds = ":,;\"'`"
)

// labels are the labels of an audit, by path.
type labels []alias

// label returns an argument with labels in place of the host's paths in it.
func (w labels) label(arg string) string {
	switch strings.IndexByte(arg, '/') {
	case -1:
		return arg
	case 0:
		if n, name := w.named(arg, 0); n == len(arg) {
			return name
		}
	}
	var b strings.Builder
	for i := 0; i < len(arg); {
		if arg[i] != '/' || !beginsPath(arg, i) && !w.known(arg[i:]) {
			b.WriteByte(arg[i])
			i++
			continue
		}
		n, name := w.named(arg, i)
		b.WriteString(name)
		i += n
	}
	return b.String()
}

// known reports whether text begins with a directory of the host that has a name for
// others, whatever stands before it.
func (w labels) known(text string) bool {
	return slices.ContainsFunc(w, func(a alias) bool {
		n := len(a.path)
		return a.path != a.label && strings.HasPrefix(text, a.path) && (len(text) == n || text[n] == '/' || strings.IndexByte(pathEnds, text[n]) >= 0)
	})
}

// beginsPath reports whether the slash at i is the first of an absolute path: no
// name stands before it, or one that is a flag's, as in -I/usr/include.
func beginsPath(arg string, i int) bool {
	from := i
	for from > 0 && inName(arg[from-1]) {
		from--
	}
	return from == i || arg[from] == '-' && strings.Trim(arg[from:i], flagBytes) == ""
}

const flagBytes = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// inName reports whether a byte before a slash makes it a relative path's.
func inName(c byte) bool {
	return c >= 0x80 || strings.IndexByte(flagBytes, c) >= 0 || strings.IndexByte("_.~%*", c) >= 0
}

// named returns the length of the path that begins at i in an argument, and its label.
func (w labels) named(arg string, i int) (int, string) {
	text, ends := arg[i:], pathEnds
	if i == 0 {
		ends = wholeEnds
	}
	end := strings.IndexAny(text, ends)
	if end < 0 {
		end = len(text)
	}
	path := strings.TrimLeft(text, "/")
	if slashes := len(text) - len(path); slashes > 1 {
		if slashes == 2 && ofURL(arg[:i]) {
			return end, text[:end]
		}
		text = text[slashes-1:] // they are as good as one
		n, name := w.namedPath(text, max(end-slashes+1, 1), ends)
		return n + slashes - 1, name
	}
	return w.namedPath(text, end, ends)
}

// ofURL reports whether two slashes after this text begin a host's name.
func ofURL(before string) bool {
	before, ok := strings.CutSuffix(before, ":")
	const local = "file"
	if n := len(before) - len(local); n >= 0 && strings.EqualFold(before[n:], local) {
		return false
	}
	return ok && before != "" && strings.IndexByte(flagBytes, before[len(before)-1]) >= 0
}

// namedPath is named for a text that begins with one slash and has a path up to end.
func (w labels) namedPath(text string, end int, ends string) (int, string) {
	up := func(end int) bool { return leadsElsewhere(text[:end] + "/") }
	for _, a := range w {
		if n := len(a.path); strings.HasPrefix(text, a.path) && (len(text) == n || text[n] == '/' || strings.IndexByte(ends, text[n]) >= 0) {
			end := n + strings.IndexAny(text[n:]+ends[:1], ends)
			switch {
			case up(end):
				return end, anyPath
			case a.all:
				return end, a.label
			}
			return end, a.label + text[n:end]
		}
	}
	path := strings.TrimRight(text[:end], "/")
	if path == "" || slices.Contains(tops[:], path) {
		return end, text[:end]
	}
	if !up(end) && slices.ContainsFunc(common[:], func(dir string) bool { return view.Within(path, dir) }) {
		return end, text[:end]
	}
	return end, anyPath
}

// leadsElsewhere reports whether a path may be of another directory than it begins with.
func leadsElsewhere(path string) bool {
	return strings.Contains(path, "/../") || view.Within(path, "/proc") && (strings.Contains(path, "/root/") || strings.Contains(path, "/cwd/"))
}

// anyPath is the label of a path that has no other.
const anyPath = "<path>"
