package main

import (
	"slices"
	"strings"

	"sbx/audit"
	"sbx/internal/enclosing"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/spec/project"
)

func trustVerb() verb {
	return verb{name: "trust", args: "[PATH]", run: runTrust,
		short: "let a project's own spec do more than narrow",
		long: "Where no spec is given, exec and check take .sbx/spec.yaml from the top of the\n" +
			"repository, or from the current directory where that is in none. It can only narrow\n" +
			"the default spec, until you trust it: then it stands in place of that one. Read\n" +
			"it first. PATH is the file or a directory of the project; the current directory. A\n" +
			"file that is changed afterwards is not trusted any more.\n\n" +
			"Exit status: 0; 1 if there is no such file or it does not hold; 2 for a bad\n" +
			"command line.",
		example: "sbx trust .",
		flags: []flag{{name: "list", help: "list what is trusted, and whether it is still so"},
			{name: "remove", help: "withdraw the trust"}}}
}

// runTrust implements `sbx trust`.
func runTrust(c *call) int {
	if len(c.rest) > 1 || c.has("list") && (c.has("remove") || len(c.rest) > 0) {
		return c.std.misused("trust: one PATH, or --list")
	}
	if err := c.trust(); err != nil {
		return c.std.failed(err)
	}
	return exitOK
}

func (c *documentSet) trust() error {
	store := c.trusts()
	switch {
	case enclosing.Either() != nil:
		return &spec.Problem{On: "sbx trust", Do: "change what is trusted", Why: "this is inside a sandbox, whose command does not say what later ones may do", Help: "run it outside"}
	case store.Dir == "":
		return &spec.Problem{On: "sbx trust", Do: "find its state directory", Why: "no home directory is known", Help: "set HOME or XDG_STATE_HOME"}
	case c.has("list"):
		return c.listTrusted(store)
	}
	path, find, err := c.projectFile()
	if err != nil {
		return err
	}
	if c.has("remove") {
		removed, err := store.Remove(path)
		if err == nil && !removed {
			err = &spec.Problem{On: path, Do: "withdraw the trust", Why: "it is not trusted", Help: "sbx trust --list"}
		}
		if err == nil {
			c.std.print("not trusted any more: " + spec.Name(path) + "\n")
		}
		return err
	}
	file, err := find()
	if err != nil {
		return err
	}
	doc, err := file.Spec()
	if err != nil {
		return err
	}
	more, err := c.beyondDefault(file, doc)
	if err != nil {
		return err
	}
	if err := audit.MakeState(c.state()); err != nil {
		return &spec.Problem{On: c.state(), Do: "make sbx's state directory", Why: err.Error()}
	}
	if err := store.Add(file); err != nil {
		return err
	}
	c.std.print("trusted: " + spec.Name(path) + "\n  sha256 " + file.Digest + "\n")
	if len(more) > 0 {
		c.std.print("  beyond the default spec: " + strings.Join(more, ", ") + "\n")
	}
	return nil
}

// beyondDefault lists the fields by which a project's spec asks for more than it may have
// without trust.
func (c *documentSet) beyondDefault(file *project.File, doc *spec.SandboxSpec) (more []string, err error) {
	placed, err := file.Place(doc, c.home(), false, true)
	if err != nil {
		return nil, err
	}
	start, err := spec.Decode(defaultName, []byte(defaultSpec))
	if err != nil {
		return nil, err
	}
	start.Source.Dir = file.Top
	_, wider := spec.Chain([]*spec.SandboxSpec{start, placed}, c.inputs(file.Top))
	for _, problems := range []error{project.Beyond(doc), wider} {
		if problems == nil {
			continue
		}
		for _, p := range spec.AsProblems(problems) {
			if f := string(p.Field); (p.Help == project.TrustHelp || p.Help == spec.NarrowHelp) && !slices.Contains(more, f) {
				more = append(more, f)
			}
		}
	}
	return more, nil
}

func (c *commandLine) listTrusted(store project.Store) error {
	all, err := store.List()
	if err != nil {
		return err
	}
	for _, e := range all {
		now := "changed since"
		file, err := project.Find(strings.TrimSuffix(e.Path, "/"+project.Name), getuid())
		switch {
		case err == nil && file != nil && file.Path() == e.Path && file.Digest == e.Digest:
			now = "trusted"
		case !sys.Exists(e.Path):
			now = "gone"
		}
		c.std.print(pad(now, 15) + e.Digest[:12] + "  " + spec.Name(e.Path) + "\n")
	}
	return nil
}
