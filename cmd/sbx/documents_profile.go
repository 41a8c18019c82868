package main

import (
	"slices"
	"strings"

	"sbx/internal/sys"
	"sbx/spec"
	"sbx/spec/profile"
)

// withProfiles puts before each document the profile that it names, and after all of them
// the agent's file of --agent with its profile.
func (c *documentSet) withProfiles(docs []*spec.SandboxSpec, cwd string) ([]*spec.SandboxSpec, error) {
	named := c.has("profile") || c.has("agent")
	for _, d := range docs {
		named = named || d.Profile.Set
	}
	if !named {
		return docs, nil
	}
	if c.chosen.Off {
		return docs, nil
	}
	var all []*spec.SandboxSpec
	if c.has("profile") {
		more, err := c.profileNamed(c.value("profile"), cwd, cwd, "--profile names it")
		if err != nil {
			return docs, err
		}
		all = append(all, more...)
	}
	for _, d := range docs {
		if d.Source.Kind == spec.AgentDefinition {
			more, err := c.profileOf(d.Source.Name, c.startOf(all, cwd), cwd)
			if err != nil {
				return docs, err
			}
			all = append(all, more...)
			continue
		}
		if d.Profile.Set {
			project := c.startOf(all, cwd)
			if d.WorkingDir.Set {
				at, err := spec.Resolve(&spec.SandboxSpec{WorkingDir: d.WorkingDir, Source: d.Source}, c.inputs(cwd))
				if err != nil {
					return docs, err
				}
				project = at.WorkingDir.Abs
			}
			more, err := c.profileNamed(d.Profile.Value.String(), project, cwd, d.Source.Name+" names it")
			if err != nil {
				return docs, err
			}
			all = append(all, more...)
		}
		all = append(all, d)
	}
	return all, nil
}

// startOf returns the directory in which documents let the command start: it is the
// project of a profile that comes after them. Errors in the documents are reported later.
func (c *documentSet) startOf(docs []*spec.SandboxSpec, cwd string) string {
	if !slices.ContainsFunc(docs, func(d *spec.SandboxSpec) bool { return d.WorkingDir.Set || d.Sandbox.Set || d.Restrict.Set }) {
		return cwd
	}
	chain, err := spec.Chain(docs, c.inputs(cwd))
	if err != nil {
		return cwd
	}
	return chain[len(chain)-1].WorkingDir.Abs
}

// profilesOff reads the setting that turns profiles off, if a document asks for one.
func (c *documentSet) profilesOff(docs []*spec.SandboxSpec) {
	asked := c.has("profile") || c.has("agent")
	for _, d := range docs {
		asked = asked || d.Profile.Set
	}
	if !asked {
		return
	}
	debug := profile.ReadSwitch(sys.Variable(c.environ, profile.SwitchName))
	if debug.Note != "" {
		c.std.say(debug.Note)
	}
	if c.chosen.Off = debug.Off; debug.Off {
		c.chosen.Why = append(c.chosen.Why, debug.Note)
	}
}

// catalog returns the profiles of a project.
func (c *documentSet) catalog(project, cwd string) (*profile.Catalog, profile.Env, string, error) {
	abs, real, err := profile.ProjectDir(project, cwd, spec.HostPaths{})
	if err != nil {
		return nil, profile.Env{}, "", err
	}
	env := profile.Env{Home: c.home(), Config: sys.Variable(c.environ, "XDG_CONFIG_HOME"), Project: abs, Reader: profile.Read,
		In: c.inputs(cwd)}
	catalog, err := profile.Load(env)
	return catalog, env, real, err
}

func (c *documentSet) profileNamed(name, project, cwd, why string) ([]*spec.SandboxSpec, error) {
	catalog, env, real, err := c.catalog(project, cwd)
	if err != nil {
		return nil, err
	}
	row, err := catalog.Find(name)
	if err != nil {
		return nil, err
	}
	c.choose(row, why)
	return c.profileDocs(row, env.Project, real)
}

// profileOf returns the profile of an agent's file, with the tools of that file.
func (c *documentSet) profileOf(file, project, cwd string) ([]*spec.SandboxSpec, error) {
	catalog, env, real, err := c.catalog(project, cwd)
	if err != nil {
		return nil, err
	}
	asked, err := env.Asked(file, "")
	if err != nil {
		return nil, err
	}
	choice, err := catalog.Choose(asked)
	if err != nil {
		return nil, err
	}
	for _, why := range choice.Why {
		c.choose(choice.Row, why)
	}
	for _, aside := range choice.Asides {
		c.warnings = append(c.warnings, spec.Warning{Field: "tools_allowed", Text: aside})
	}
	docs, err := c.profileDocs(choice.Row, env.Project, real)
	if err != nil || asked.File == nil || !asked.File.Tools.Set {
		return docs, err
	}
	own := *docs[0] // problems with the tools must name the file
	own.ToolsAllowed, own.Source.Root = spec.Opt[[]string]{}, nil
	docs[0] = &own
	return append(docs, &spec.SandboxSpec{ToolsAllowed: spec.Some(choice.Tools), Source: spec.Source{Name: file, Dir: cwd}}), nil
}

// choose notes which profile is used, and why, for the record and for -v.
func (c *documentSet) choose(row *profile.Row, why string) {
	c.chosen.Name = row.Name
	c.chosen.Why = append(c.chosen.Why, why)
	c.mode = row.Mode.Value
	head := "profile " + row.Name + ": "
	c.verbose(head + strings.TrimPrefix(why, head))
}

// unmake removes the directories that profileDocs created, if the command does not start.
func (c *documentSet) unmake() {
	profile.Unmake(c.made)
	c.made = nil
}

// profileDocs returns the documents of a profile in a project. It creates the directories
// that the profile writes, unless this is a dry run.
func (c *documentSet) profileDocs(row *profile.Row, project, real string) ([]*spec.SandboxSpec, error) {
	missing := profile.MakeIt
	if c.name == "check" || c.has("dry-run") {
		missing = profile.LeaveOut
	}
	found, err := row.Prepare(real, spec.HostPaths{}, profile.Host{}, missing)
	if err != nil {
		return nil, err
	}
	c.made = append(c.made, found.Made...)
	for _, note := range found.Notes() {
		c.note("profile " + row.Name + ": " + note)
		c.chosen.Why = append(c.chosen.Why, note)
	}
	return row.SpecsAt(project, found), nil
}
