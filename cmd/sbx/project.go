package main

import (
	"strings"

	"sbx/internal/enclosing"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/spec/project"
	"sbx/wrap"
)

// projectSpec is the project's own spec, as one call of sbx uses it.
type projectSpec struct {
	file    *project.File
	doc     *spec.SandboxSpec // as written
	trusted bool
}

// withProject adds the project's own spec to the default spec, the last of docs, or
// replaces that if the caller trusts the project's. It uses none inside another sandbox,
// where the outer sbx has decided, and for a job layout, which has no project.
func (c *documentSet) withProject(docs []*spec.SandboxSpec, cwd string) ([]*spec.SandboxSpec, error) {
	if c.flag("no-project-spec") == nil || c.has("no-project-spec") || c.hasSpec() || c.job() != nil || enclosing.Either() != nil {
		return docs, nil
	}
	file, err := project.Find(cwd, getuid())
	if err != nil || file == nil {
		return docs, err
	}
	p := &projectSpec{file: file, trusted: c.trusts().Trusts(file)}
	if p.doc, err = file.Spec(); err != nil {
		return docs, err
	}
	name := spec.Name(file.Path())
	if p.trusted {
		docs = docs[:len(docs)-1]
		name += " stands in place of the default spec: you trust it"
	} else {
		if !file.Own {
			return docs, &spec.Problem{On: file.Path(), Do: "use the project's own spec", Why: "it belongs to another user", Help: project.TrustHelp}
		}
		if err := project.Beyond(p.doc); err != nil {
			return append(docs, p.doc), err
		}
		name += " narrows the default spec"
	}
	c.project = p
	c.note(name)
	if p.trusted {
		c.profilesOff([]*spec.SandboxSpec{p.doc})
	}
	return append(docs, p.doc), nil
}

// placeProject puts the project's own spec in its place among docs.
func (c *documentSet) placeProject(docs []*spec.SandboxSpec) (placed []*spec.SandboxSpec, err error) {
	if c.project == nil {
		return docs, nil
	}
	for _, d := range docs {
		if d.Source.Name == c.project.file.Path() {
			if d, err = c.project.file.Place(d, c.home(), c.project.trusted, !c.chosen.Off); err != nil {
				return nil, err
			}
		}
		placed = append(placed, d)
	}
	return placed, nil
}

// helped adds to an error in the documents a hint for a project's own spec that asks for
// too much.
func (c *documentSet) helped(err error) error {
	if c.project == nil || c.project.trusted {
		return err
	}
	return project.Helped(err, c.project.file.Path())
}

// trusts returns the store of trusted project specs.
func (c *commandLine) trusts() project.Store {
	s := project.Store{UID: getuid()}
	if state := c.state(); state != "" {
		s.Dir = state + "/trust"
	}
	return s
}

func (c *commandLine) state() string {
	return wrap.StateDir(sys.Variable(c.environ, "XDG_STATE_HOME"), c.home())
}

// projectFile returns the path of the spec that sbx trust is about, also if the file is
// gone, and a function that reads it.
func (c *commandLine) projectFile() (path string, find func() (*project.File, error), err error) {
	cwd, err := currentDir()
	if err != nil {
		return "", nil, err
	}
	named := cwd
	if len(c.rest) == 1 {
		if named = c.rest[0]; !strings.HasPrefix(named, "/") {
			named = cwd + "/" + named
		}
	}
	dir, isFile := strings.CutSuffix(named, "/"+project.Name)
	top := dir
	if !isFile {
		if top, err = project.Top(dir); err != nil {
			return "", nil, err
		}
	} else if real, err := spec.Real(dir, spec.HostPaths{}); err == nil {
		top = real
	}
	path = (&project.File{Top: top}).Path()
	return path, func() (*project.File, error) {
		f, err := project.Find(dir, getuid())
		switch {
		case err != nil:
			return nil, err
		case top == "":
			return nil, &spec.Problem{On: dir, Do: "trust a project's own spec there", Why: "that is not a project: everybody may create names in it, or it is the root of the host"}
		case f == nil:
			return nil, &spec.Problem{On: path, Do: "trust the project's own spec", Why: spec.NoEntry.Error()}
		case f.Path() != path:
			return nil, &spec.Problem{On: path, Do: "trust it", Why: "the project's own spec is " + spec.Name(f.Path()), Help: "sbx trust " + spec.Word(f.Path())}
		}
		return f, nil
	}, nil
}
