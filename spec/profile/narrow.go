package profile

import (
	"slices"

	"sbx/spec"
)

// Narrow returns the catalog changed by a project's document. Any command that works in the project
// may have written that document, so it can only take away. It is an error if a row is wider than
// the profile that it changes or extends, if an agent or a launch point would get a wider profile,
// or if nothing outside the project knows them.
//
// in has the inputs with which specs are resolved to compare them.
func (c *Catalog) Narrow(f *ProfilesFile, project string, in spec.Inputs) (*Catalog, error) {
	o := order{project, in}
	n, err := c.changed(f, o.narrowed)
	if err != nil {
		return nil, err
	}
	for i := range f.Profiles {
		for _, agent := range f.Profiles[i].Agents {
			if err := n.mayMove(c, f, agent, f.Profiles[i].Name, o); err != nil {
				return nil, err
			}
			n.move(agent, f.Profiles[i].Name)
		}
	}
	for _, p := range f.Points {
		if err := n.known(f, p); err != nil {
			return nil, err
		}
		if err := n.mayPoint(f, p, o); err != nil {
			return nil, err
		}
		*n.point(p.Point) = Point{p.Point, p.Profile, f.Name}
	}
	return n, nil
}

// narrowed returns base with the fields that row sets. A wider row is an error.
func (o order) narrowed(base *Row, row *ProfileRow, from string) (Row, error) {
	plain := *row
	plain.Spec = spec.Opt[*spec.SandboxSpec]{} // lists in a spec are intersected, not replaced
	r, err := overlay(base, &plain, from)
	if err != nil {
		return r, err
	}
	fail := func(field, why string) error {
		on, ok := row.Places[field]
		if !ok {
			on = row.On
		}
		return &spec.DecodeError{Name: from, Pos: on, Field: fieldPath(row.Name, field), Why: why,
			Help: "a project's profiles can only narrow; the user's own file may widen"}
	}
	if field, why := wider(base, &r); why != "" {
		return r, fail(field, why)
	}
	if !row.Spec.Set {
		return r, nil
	}
	if field, at, why := puts(row.Spec.Value); why != "" {
		return r, &spec.DecodeError{Name: from, Pos: at, Field: fieldPath(row.Name, "spec."+field), Why: why,
			Help: "a project's profiles can only narrow; the user's own file may say it"}
	}
	// The documents stay separate: when they are resolved, each narrows the one before.
	r.Narrowing = append(slices.Clip(r.Narrowing), row.Spec.Value)
	_, err = o.resolve(&r)
	return r, err
}

// puts returns a field with which a spec replaces a value instead of narrowing it, and the reason
// why that is refused. Such a field opens nothing, but it would let the last command that worked in
// the project choose what the agent and its programs obey.
func puts(s *spec.SandboxSpec) (field string, at spec.Pos, why string) {
	if set := s.Node().Get("environment").Get("set"); len(s.Environment.Value.Set.Value) > 0 {
		return "environment.set", set.Pos, "the value of a variable takes nothing away: it could be another address of the model, or what is loaded into each program"
	}
	for i, m := range s.Filesystem.Value.Mounts.Value {
		if m.Mode != spec.MountTmpfs {
			return "filesystem.mounts", s.Node().Get("filesystem").Get("mounts").Items[i].Pos,
				"what is mounted over " + m.Target + " takes nothing away: it could stand in for a program"
		}
	}
	return "", spec.Pos{}, ""
}

// wider returns the field, and the reason, by which a profile is wider than another, apart from
// their specs.
func wider(than, r *Row) (field, why string) {
	for _, t := range r.Tools() {
		if !covered(than.Tools(), t) {
			if bare(t) == "Bash" {
				field = "bash_policy"
			} else {
				field = "allowed_tools"
			}
			return field, than.Name + " has no " + t
		}
	}
	switch {
	case r.Mode.Value > than.Mode.Value:
		return "permission_mode", r.Mode.Value.String() + " is wider than " + than.Mode.Value.String()
	case than.Scoped.Value && !r.Scoped.Value:
		return "project_scoped", than.Name + " is project-scoped"
	}
	for _, m := range r.Make.Value {
		if !slices.Contains(than.Make.Value, m) {
			return "make", than.Name + " does not make " + m
		}
	}
	for _, m := range r.WriteExisting.Value {
		if !slices.Contains(than.WriteExisting.Value, m) {
			return "write_existing", than.Name + " does not write " + m
		}
	}
	return "", ""
}

// mayMove refuses to move an agent to a profile that is wider than its profile in was.
func (c *Catalog) mayMove(was *Catalog, f *ProfilesFile, agent Named, to string, o order) error {
	fail := func(why, help string) error {
		return &spec.DecodeError{Name: f.Name, Pos: agent.On, Field: fieldPath(to, "agents"), Why: why, Help: help}
	}
	from := was.of(agent.Name)
	if from == nil {
		return fail("no profile outside the project has an agent "+agent.Name,
			"give its .md file front matter with tools, or name it in ~/.config/sbx/profiles.yaml")
	}
	if why := c.notWithin(from, c.row(to), o); why != "" {
		return fail(agent.Name+" is an agent of "+from.Name+", and "+to+" is wider: "+why,
			"write a profile that extends "+from.Name)
	}
	return nil
}

// mayPoint refuses a wider profile at a launch point.
func (c *Catalog) mayPoint(f *ProfilesFile, p PointRow, o order) error {
	fail := func(why, help string) error {
		return &spec.DecodeError{Name: f.Name, Pos: p.On, Field: "points." + p.Point, Why: why, Help: help}
	}
	at := c.point(p.Point)
	switch {
	case at == nil:
		return fail("nobody outside the project knows this launch point", "name it in ~/.config/sbx/profiles.yaml")
	case at.Profile == p.Profile:
		return nil
	case at.Profile == Own || p.Profile == Own:
		return fail("at "+p.Point+" holds "+at.Profile+", which no other profile is sure to narrow", "narrow the agents' own profiles")
	}
	if why := c.notWithin(c.row(at.Profile), c.row(p.Profile), o); why != "" {
		return fail("at "+p.Point+" holds "+at.Profile+", and "+p.Profile+" is wider: "+why, "write a profile that extends "+at.Profile)
	}
	return nil
}

// notWithin says why a profile is wider than another; "" if it is not.
func (c *Catalog) notWithin(than, r *Row, o order) string {
	if _, why := wider(than, r); why != "" {
		return why
	}
	has, err := o.resolve(than)
	if err != nil {
		return err.Error()
	}
	asks, err := o.resolve(r)
	if err != nil {
		return err.Error()
	}
	if wide := spec.Wider(&has, &asks, o.in); len(wide) > 0 {
		return wide[0].Error()
	}
	return ""
}

// order compares specs as they apply in one project.
type order struct {
	project string
	in      spec.Inputs
}

// resolve resolves the profile's spec, without the parts that only a launch needs.
func (o order) resolve(r *Row) (spec.Resolved, error) {
	plain := *r
	plain.WriteExisting = spec.Opt[[]string]{}
	found, err := plain.Prepare(o.project, o.in.Paths, nil, LeaveOut)
	if err != nil {
		return spec.Resolved{}, err
	}
	docs := plain.SpecsAt(o.project, found)
	docs[0].ToolsAllowed = spec.Opt[[]string]{} // wider compares them
	all, err := spec.Chain(docs, o.in)
	if err != nil {
		return spec.Resolved{}, err
	}
	return all[len(all)-1], nil
}
