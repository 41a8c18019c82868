package wrap_test

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"sbx/internal/view"
	"sbx/wrap"
	"sbx/wrap/world"
)

// tree carries out a Plan's mount operations on a made-up file system and finds out which files can
// be reached in the end. It models the relevant properties of mounts: a mount covers what was at
// its target, a bind copies the mounts under its source, a clone keeps the state in which it was
// taken, and each mount has flags of its own.
type tree struct {
	root  *mounted
	slots map[int]*mounted
	fds   map[int]place
}

// fileSystem is the content of a mount: names and their nodes. The host's own files have an
// identity by which they are recognised wherever they show.
type fileSystem struct {
	name  string
	nodes map[string]wrap.Kind
	lower *place // of an overlay
	gone  map[string]bool
}

// mounted is a mount: part of a file system at a place in its parent.
type mounted struct {
	fs       *fileSystem
	root     string // in fs
	at       string // in the parent's fs
	children []*mounted
	readOnly bool
}

// place is a name in a mount.
type place struct {
	m    *mounted
	name string // in m.fs
}

func newTree(w *world.World) *tree {
	fs := &fileSystem{name: "host", nodes: map[string]wrap.Kind{}}
	for p, n := range w.Nodes {
		fs.nodes[p] = n.Kind
	}
	root := &mounted{fs: fs, root: "/"}
	t := &tree{root: root, slots: map[int]*mounted{}, fds: map[int]place{}}
	for _, m := range w.Host.Mounts { // mounts of the host show the same files
		at, _ := t.lookUp(m.Path)
		at.m.children = append(at.m.children, &mounted{fs: fs, root: m.Path, at: at.name})
	}
	return t
}

func join(dir, name string) string { return path.Join(dir, name) }

func (fs *fileSystem) kind(name string) wrap.Kind {
	if k := fs.nodes[name]; k != wrap.Absent || fs.lower == nil {
		return k
	}
	if fs.gone[name] {
		return wrap.Absent
	}
	return fs.lower.m.fs.kind(join(fs.lower.name, name))
}

// identity returns the host's file that name is, or "".
func (fs *fileSystem) identity(name string) string {
	switch {
	case fs.name == "host":
		return name
	case fs.lower != nil && fs.nodes[name] == wrap.Absent:
		return fs.lower.m.fs.identity(join(fs.lower.name, name))
	}
	return ""
}

func (fs *fileSystem) list(dir string) (names []string) {
	for p := range fs.nodes {
		if p != "/" && view.Parent(p) == dir {
			names = append(names, path.Base(p))
		}
	}
	if fs.lower != nil && (dir == "/" || fs.nodes[dir] == wrap.Absent || fs.lower.m.fs.kind(join(fs.lower.name, dir)) == wrap.Dir) {
		for _, n := range fs.lower.m.fs.list(join(fs.lower.name, dir)) {
			if !fs.gone[join(dir, n)] && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	sort.Strings(names)
	return names
}

// lookUp follows a path without links through the mounts; ok is false if nothing is there.
func (t *tree) lookUp(p string) (at place, ok bool) {
	at = place{t.root, t.root.root}.top()
	for _, part := range strings.Split(strings.Trim(p, "/"), "/") {
		if part == "" {
			continue
		}
		if at.m.fs.kind(at.name) != wrap.Dir {
			return at, false
		}
		at = place{at.m, join(at.name, part)}
		if at.m.fs.kind(at.name) == wrap.Absent {
			return at, false
		}
		at = at.top()
	}
	return at, true
}

// top returns the mount over a place, if there is one.
func (p place) top() place {
	for i := len(p.m.children) - 1; i >= 0; i-- {
		if c := p.m.children[i]; c.at == p.name {
			return place{c, c.root}.top()
		}
	}
	return p
}

func (m *mounted) copy(root string) *mounted {
	c := &mounted{fs: m.fs, root: root, at: m.at, readOnly: m.readOnly}
	for _, child := range m.children {
		if view.Within(child.at, root) {
			c.children = append(c.children, child.copy(child.root))
		}
	}
	return c
}

func (m *mounted) setReadOnly() {
	m.readOnly = true
	for _, c := range m.children {
		c.setReadOnly()
	}
}

// play carries out a Plan's operations. Its error is one that would end a launch.
func (t *tree) play(ops []wrap.Mount) error {
	for i := range ops {
		if err := t.one(&ops[i]); err != nil {
			return fmt.Errorf("operation %d (%v %s %s): %w", i, ops[i].Op, ops[i].Source, ops[i].Target, err)
		}
	}
	return nil
}

var errMissing = fmt.Errorf("nothing is there")

func (t *tree) one(m *wrap.Mount) error {
	switch m.Op {
	case wrap.OpCopy:
		if _, ok := t.fds[m.Slot]; !ok {
			return soft(m, errMissing)
		}
		return t.make(m)
	case wrap.OpMkdir, wrap.OpFile, wrap.OpSymlink, wrap.OpWhiteout, wrap.OpContent:
		return t.make(m)
	case wrap.OpClone, wrap.OpOpen, wrap.OpRead:
		at, ok := t.lookUp(m.Source)
		if !ok {
			return soft(m, errMissing)
		}
		if m.Op != wrap.OpClone {
			t.fds[m.Slot] = at
			return nil
		}
		if t.slots[m.Slot] != nil {
			return fmt.Errorf("slot %d is in use", m.Slot)
		}
		t.slots[m.Slot] = moded(at.m.copy(at.name), m.Mode)
		return nil
	}
	at, ok := t.lookUp(m.Target)
	if !ok {
		return soft(m, errMissing)
	}
	switch m.Op {
	case wrap.OpPrivate:
	case wrap.OpReadOnly:
		at.m.setReadOnly()
	case wrap.OpSeal:
		at.m.readOnly = true
	case wrap.OpPivot:
		t.root = at.m
	case wrap.OpScratch, wrap.OpTmpfs, wrap.OpProc, wrap.OpDevpts:
		fs := &fileSystem{name: m.Op.String(), nodes: map[string]wrap.Kind{"/": wrap.Dir}}
		if m.Op == wrap.OpProc {
			for p, k := range t.host().nodes {
				if view.Within(p, "/proc") && p != "/proc" {
					fs.nodes[p[len("/proc"):]] = k
				}
			}
		}
		return attach(&mounted{fs: fs, root: "/"}, at)
	case wrap.OpOverlay:
		return t.overlay(m, at)
	case wrap.OpAttach:
		c := t.slots[m.Slot]
		if c == nil {
			return fmt.Errorf("slot %d is empty", m.Slot)
		}
		delete(t.slots, m.Slot)
		return attach(c, at)
	case wrap.OpPin:
		return attach(at.m.copy(at.name), at)
	case wrap.OpBind:
		from, ok := t.lookUp(m.Source)
		if !ok {
			return soft(m, errMissing)
		}
		return attach(moded(from.m.copy(from.name), m.Mode), at)
	case wrap.OpPlace:
		from, ok := t.fds[m.Slot]
		if !ok {
			return fmt.Errorf("slot %d is not open", m.Slot)
		}
		return attach(moded(from.m.copy(from.name), m.Mode), at)
	default:
		return fmt.Errorf("no such operation here")
	}
	return nil
}

func (t *tree) host() *fileSystem {
	m := t.root
	for m.fs.name != "host" {
		m = m.children[0]
	}
	return m.fs
}

func soft(m *wrap.Mount, err error) error {
	if m.Soft {
		return nil
	}
	return err
}

func moded(m *mounted, mode wrap.Mode) *mounted {
	if mode == wrap.ModeRO {
		m.setReadOnly()
	}
	return m
}

func attach(c *mounted, at place) error {
	if (c.fs.kind(c.root) == wrap.Dir) != (at.m.fs.kind(at.name) == wrap.Dir) {
		return fmt.Errorf("a %v cannot be mounted on a %v", c.fs.kind(c.root), at.m.fs.kind(at.name))
	}
	c.at = at.name
	at.m.children = append(at.m.children, c)
	return nil
}

// make adds a name to a tmpfs; nothing is ever added to the host's files.
func (t *tree) make(m *wrap.Mount) error {
	at, ok := t.lookUp(m.Target)
	if ok || at.m.fs.kind(at.name) == wrap.Symlink {
		if m.Op == wrap.OpWhiteout || m.Op == wrap.OpContent || m.Op == wrap.OpCopy {
			return fmt.Errorf("it is there already")
		}
		return nil
	}
	if view.Parent(at.name) != "/" && at.m.fs.kind(view.Parent(at.name)) != wrap.Dir || path.Base(at.name) != path.Base(m.Target) {
		return errMissing
	}
	if at.m.fs.name == "host" || at.m.readOnly {
		return fmt.Errorf("it would be made on the host")
	}
	kind := map[wrap.Op]wrap.Kind{wrap.OpMkdir: wrap.Dir, wrap.OpFile: wrap.File, wrap.OpContent: wrap.File, wrap.OpCopy: wrap.File, wrap.OpSymlink: wrap.Symlink, wrap.OpWhiteout: wrap.Device}[m.Op]
	at.m.fs.nodes[at.name] = kind
	return nil
}

func (t *tree) overlay(m *wrap.Mount, at place) error {
	layer, ok := t.lookUp(m.Source)
	lower, ok2 := t.lookUp(m.Lower)
	if !ok || !ok2 {
		return errMissing
	}
	fs := &fileSystem{name: "overlay", nodes: map[string]wrap.Kind{}, lower: &lower, gone: map[string]bool{}}
	for p, k := range layer.m.fs.nodes {
		if p == layer.name || !view.Within(p, layer.name) {
			continue
		}
		if rel := p[len(layer.name):]; k == wrap.Device {
			fs.gone[rel] = true
		} else {
			fs.nodes[rel] = k
		}
	}
	if _, ok := t.lookUp(m.Upper); m.Upper != "" && !ok {
		return errMissing
	}
	return attach(&mounted{fs: fs, root: "/", readOnly: m.Upper == ""}, at)
}

// seen is a file of the host that can be reached.
type seen struct {
	path     string // inside
	identity string // on the host
	kind     wrap.Kind
	readOnly bool
}

// walk lists all files of the host that can be reached.
func (t *tree) walk() (all []seen) {
	var visit func(p string, at place)
	visit = func(p string, at place) {
		if id := at.m.fs.identity(at.name); id != "" {
			// Writes through an overlay go to its own layer.
			all = append(all, seen{p, id, at.m.fs.kind(at.name), at.m.readOnly || at.m.fs.lower != nil})
		}
		if at.m.fs.kind(at.name) != wrap.Dir {
			return
		}
		for _, name := range at.m.fs.list(at.name) {
			visit(join(p, name), place{at.m, join(at.name, name)}.top())
		}
	}
	visit("/", place{t.root, t.root.root}.top())
	return all
}
