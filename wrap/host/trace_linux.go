package host

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/spec"
)

// Hop is one step from a program's name to a file that is executed for it.
type Hop struct {
	How  string // "", "link", "script of", "env runs", "loader"
	Path string
}

// MaxHops bounds a trace: symlinks may form a cycle.
const MaxHops = 40

// Trace follows a program from the given path over symlinks and "#!" lines to the loader.
// For a shim it finds what can be found without running the shim.
func Trace(path string, r *spec.Resolved) []Hop {
	t := &tracer{r: r}
	t.follow("", strings.ReplaceAll(path, "/./", "/"))
	return t.hops
}

type tracer struct {
	r    *spec.Resolved
	hops []Hop
}

func (t *tracer) add(how, path string) { t.hops = append(t.hops, Hop{how, path}) }

func (t *tracer) follow(how, path string) {
	t.add(how, path)
	for len(t.hops) < MaxHops {
		next := linkAt(path)
		if next == "" {
			break
		}
		t.add("link", next)
		path = next
	}
	host, _ := t.r.Outside(path)
	real, err := spec.Real(host, spec.HostPaths{})
	if err != nil || len(t.hops) >= MaxHops {
		return
	}
	if real != host { // a directory on the way is a link
		t.add("link", real)
	}
	head := readHead(real)
	name, rest := interpreter(head)
	switch {
	case name != "" && name[0] == '/':
		t.follow("script of", name)
		if name[strings.LastIndexByte(name, '/')+1:] == "env" {
			t.env(rest)
		}
	default:
		if l := loader(real, head); l != "" {
			t.add("loader", l)
		}
	}
}

// env continues with the program that env(1) runs.
func (t *tracer) env(args string) {
	for word := range strings.FieldsSeq(args) {
		if word[0] == '-' || strings.Contains(word, "=") {
			continue
		}
		if p, found := LookUp(word, t.r); found == Found {
			t.follow("env runs", p.Path)
		}
		return
	}
}

// linkAt returns the target of the symlink at path, without resolving symlinks of
// directories; "" if path is not a symlink.
func linkAt(path string) string {
	target := read.Link(unix.AT_FDCWD, path)
	if target == "" || target[0] == '/' {
		return target
	}
	return path[:strings.LastIndexByte(path, '/')+1] + target
}
