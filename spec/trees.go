package spec

import (
	"slices"
	"strings"
)

// Trees are the directories in which an earlier command may have been able to write. It may have
// planted a symlink there, to redirect a path that a document or a flag names.
type Trees struct {
	in    Inputs
	docs  []*SandboxSpec
	all   []treeAt
	home  string // links resolved
	known bool   // gather has run; it runs only once a link makes it necessary
}

// treeAt is a tree, with the links of its path resolved.
type treeAt struct {
	Path
	written bool // a document makes it writable, so that a link may lead there
	above   bool // a repository that contains another tree
	beside  bool // a tree only because a document lies in it
	led     bool // a link in another tree leads to it; the tree need not contain that link
}

// TreesOf returns the current directory, the directories of the documents, the working
// directories and writable paths that they name, and the repositories that contain these:
// another command may have had those as its workspace. It uses the documents' values even if
// they are not valid together. The root directory never counts, and a home directory that is a
// repository does not count for the paths in it.
func TreesOf(in Inputs, docs ...*SandboxSpec) Trees {
	return Trees{in: in, docs: docs}
}

// gather collects the trees.
func (t *Trees) gather() {
	in := &t.in
	t.known, t.home = true, in.Home
	if home, err := resolvePath(in.Paths, in.Home); err == nil {
		t.home = home.Real
	}
	t.add(in.Cwd, in.Cwd, treeAt{})
	for _, dir := range in.WrittenDirs {
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
	for i := range t.all { // no document asked for the target of a planted link
		a := &t.all[i]
		a.led = slices.ContainsFunc(a.Links, func(l Link) bool {
			return t.holding(l.Path, func(o *treeAt) bool { return o.Real != a.Real && o.Real != l.Path })
		})
		a.written = a.written && !a.led
	}
}

// addDocument adds the trees of a document. Its relative paths are relative to its own working
// directory or, without one, to base. addDocument returns the base of the next document.
func (t *Trees) addDocument(d *SandboxSpec, base string) string {
	from := d.Source.baseDir(&t.in)
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

// add adds path if it is a directory, and returns its absolute path.
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

// Holds reports whether an earlier command may have created the file at an absolute path, or a link
// on the way to it: whether one of them lies in one of the trees. The directory of a document does
// not count as a tree here: a command that can write there can change the document itself.
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

// holding reports whether the function is returns true for one of the trees that contain path.
func (t *Trees) holding(path string, is func(*treeAt) bool) bool {
	for i := range t.all {
		if a := &t.all[i]; under(path, a.Real) && is(a) {
			return true
		}
	}
	return false
}

// astray returns why p must not be followed; "" if it may. A planted link may lead to a tree that
// the documents make writable. If the link lies in another tree, it may also lead to files of that
// same tree, without the repository around the tree. It never leads to files that only their own
// name opens.
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

// kept reports whether a path is a secret, or a protected name of one of the trees: a document
// opens such a path only by naming it.
func (t *Trees) kept(real string) bool {
	lists := &t.in.Lists
	if lists.Secret != nil && (lists.Secret(real, t.in.Home) || lists.Secret(real, t.home)) {
		return true
	}
	return lists.Protected != nil && t.holding(real, func(a *treeAt) bool {
		return real != a.Real && lists.Protected(strings.TrimPrefix(real, a.Real+"/"))
	})
}
