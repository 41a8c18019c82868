package spec

import (
	"slices"
	"strings"
)

// Trees are the directories that an earlier command may have been able to write. It may have
// planted a symlink there, to redirect a path that a document or a flag names.
type Trees struct {
	in    Inputs
	docs  []*SandboxSpec
	all   []treeAt
	home  string // links resolved
	known bool   // all is gathered, which only a link on the way asks for
}

// treeAt is one of them, links resolved.
type treeAt struct {
	Path
	written bool // by what a document asks for, so that a link may lead there
	above   bool // a repository that another tree lies in
	beside  bool // only since a document lies there
	led     bool // by a link in another tree: that it holds that link, as a directory above does, says nothing
}

// TreesOf returns the current directory, the directories of the documents, the working
// directories and writable paths that they name, and the repositories that contain these:
// another command may have had those as its workspace. It uses the documents' values even if
// they are not valid together. The root directory never counts, and a home directory that is a
// repository does not count for the paths in it.
func TreesOf(in Inputs, docs ...*SandboxSpec) Trees {
	return Trees{in: in, docs: docs}
}

// gather finds the trees.
func (t *Trees) gather() {
	in := &t.in
	t.known, t.home = true, in.Home
	if home, err := resolvePath(in.Paths, in.Home); err == nil {
		t.home = home.Real
	}
	t.add(in.Cwd, in.Cwd, treeAt{})
	for _, dir := range in.Folders {
		t.add(dir, in.Cwd, treeAt{})
	}
	if in.Agent != nil {
		for _, f := range in.Agent.Files {
			if f.Mode == OwnWrite {
				t.add(f.Path, in.Cwd, treeAt{})
			}
		}
	}
	if in.Job != nil {
		t.add(in.Job.Output, in.Cwd, treeAt{written: true})
	}
	base := in.Cwd
	for _, d := range t.docs {
		base = t.addDocument(d, base)
	}
	t.addAbove()
	for i := range t.all { // where a planted link leads, nobody has asked for
		a := &t.all[i]
		a.led = slices.ContainsFunc(a.Links, func(l Link) bool {
			return t.holding(l.Path, func(o *treeAt) bool { return o.Real != a.Real && o.Real != l.Path })
		})
		a.written = a.written && !a.led
	}
}

// addDocument adds what a document asks for. Relative paths of a document count
// from its own working directory or, without one, from base; of the next one too.
func (t *Trees) addDocument(d *SandboxSpec, base string) string {
	from := d.Source.folder(&t.in)
	t.add(from, "/", treeAt{beside: true})
	writes := d.AccessMode.Value != ReadOnly && !d.Readonly.Value && !d.Sandbox.Value.Readonly.Value
	if root := d.Sandbox.Value.Root; root.Set {
		base = t.add(root.Value, from, treeAt{written: writes && !d.Restrict.Set})
		if d.Restrict.Set {
			base = t.add("./"+d.Restrict.Value, base, treeAt{written: writes})
		}
	}
	if d.WorkingDir.Set {
		base = t.add(d.WorkingDir.Value, from, treeAt{})
	}
	if d.AccessMode.Value == WorkspaceWrite {
		t.add(base, "/", treeAt{written: writes})
	}
	for _, w := range d.Filesystem.Value.Write.Value {
		paths := []string{w}
		if p := presetOf(w); p != nil {
			paths = p.paths(&t.in)
		}
		for _, path := range paths {
			t.add(path, base, treeAt{written: writes})
		}
	}
	for _, m := range d.Filesystem.Value.Mounts.Value {
		if m.Mode == MountRW {
			t.add(m.Source, base, treeAt{written: writes})
		}
	}
	return base
}

// add adds a directory, if it is one, as what it is, and gives its absolute path.
func (t *Trees) add(path, base string, as treeAt) string {
	p := placer{home: t.in.Home}
	abs := p.absolute(path, base)
	if !strings.HasPrefix(abs, "/") {
		return base
	}
	if at, err := resolvePath(t.in.Paths, abs); err == nil && at.IsDir && at.Real != "/" {
		as.Path = at
		t.all = append(t.all, as)
	}
	return abs
}

// addAbove adds the repositories that contain the trees.
func (t *Trees) addAbove() {
	for _, a := range t.all {
		for dir := parent(a.Real); a.Real != t.home && dir != "/" && dir != t.home; dir = parent(dir) {
			if _, err := t.in.Paths.Lstat(dir + "/.git"); err == nil {
				t.all = append(t.all, treeAt{Path: Path{Abs: dir, Real: dir, Exists: true, IsDir: true}, above: true, beside: a.beside})
			}
		}
	}
}

// Follow resolves an absolute path, which need not exist. It returns a Problem, with Do unset,
// if the path cannot be resolved or a planted symlink redirects it. The caller must then open
// Path.Real without following symlinks.
func (t *Trees) Follow(abs string) (Path, *Problem) {
	p, err := resolvePath(t.in.Paths, abs)
	if err != nil {
		return p, &Problem{Why: err.Error()}
	}
	if why, help := t.astray(&p); why != "" {
		return p, &Problem{Why: why, Help: help}
	}
	return p, nil
}

// Holds tells whether a command may have made what an absolute path leads to, or chosen
// where it leads: that lies in one of the trees, or a link on the way does. The directory of
// a document is none of them here: who writes there can have the document say anything.
func (t *Trees) Holds(abs string) bool {
	if !t.known {
		t.gather()
	}
	made := func(path string) bool {
		return t.holding(path, func(a *treeAt) bool { return !a.beside })
	}
	p, err := resolvePath(t.in.Paths, abs)
	return err != nil || made(p.Real) || slices.ContainsFunc(p.Links, func(l Link) bool { return made(l.Path) })
}

// planted returns the symlinks on the way to p that lie in one of the trees.
func (t *Trees) planted(p *Path) (links []*Link) {
	if !t.known && len(p.Links) > 0 {
		t.gather()
	}
	for i := range p.Links {
		if l := &p.Links[i]; t.holding(l.Path, func(a *treeAt) bool { return l.Path != a.Real }) {
			links = append(links, l)
		}
	}
	return links
}

// holding tells whether one of the trees that hold path is such a one.
func (t *Trees) holding(path string, is func(*treeAt) bool) bool {
	for i := range t.all {
		if a := &t.all[i]; under(path, a.Real) && is(a) {
			return true
		}
	}
	return false
}

// astray tells why p is not followed; "" where it is. A planted link may lead to
// where the documents have the command write. From a tree that they do not have it
// write it may lead to what lies in the same one; the repository around a tree is not
// the same. It opens nothing that is opened by its own name alone.
func (t *Trees) astray(p *Path) (why, help string) {
	written := func(a *treeAt) bool { return a.written }
	for _, l := range t.planted(p) {
		inner := t.holding(l.Path, func(a *treeAt) bool { return !a.above && !a.led })
		same := func(a *treeAt) bool { return under(p.Real, a.Real) && a.above != inner && !a.led }
		switch {
		case !t.holding(p.Real, written) && (t.holding(l.Path, written) || !t.holding(l.Path, same)):
			why = " is a link that leads out of the workspace, to "
		case t.kept(p.Real):
			why = " is a link to what only its own name opens, "
		default:
			continue
		}
		return odd(l.Path) + why + odd(p.Real) + ": an earlier command may have left it", "name " + odd(p.Real) + " itself, if that is meant"
	}
	return "", ""
}

// kept tells whether a path is kept from commands that may reach what lies around
// it: a secret, or a protected name of one of the trees.
func (t *Trees) kept(real string) bool {
	lists := &t.in.Lists
	if lists.Secret != nil && (lists.Secret(real, t.in.Home) || lists.Secret(real, t.home)) {
		return true
	}
	return lists.Protected != nil && t.holding(real, func(a *treeAt) bool {
		return real != a.Real && lists.Protected(strings.TrimPrefix(real, a.Real+"/"))
	})
}
