package profile

import (
	"slices"

	"sbx/spec"
)

// Extend returns the catalog changed by the user's document. A field of a row replaces that of the
// profile with the same name, a new profile starts as a copy of the one that it extends, and an
// agent belongs to the profile that names it last.
func (c *Catalog) Extend(f *ProfilesFile) (*Catalog, error) {
	n, err := c.changed(f, overlay)
	if err != nil {
		return nil, err
	}
	for i := range f.Profiles {
		for _, agent := range f.Profiles[i].Agents {
			n.move(agent, f.Profiles[i].Name)
		}
	}
	for _, p := range f.Points {
		if err := n.known(f, p); err != nil {
			return nil, err
		}
		if at := n.point(p.Point); at != nil {
			*at = Point{p.Point, p.Profile, f.Name}
		} else {
			n.Points = append(n.Points, Point{p.Point, p.Profile, f.Name})
		}
	}
	return n, nil
}

// changed returns the catalog with a row for each row of a document, made by change from the
// present one.
func (c *Catalog) changed(f *ProfilesFile, change func(base *Row, row *ProfileRow, from string) (Row, error)) (*Catalog, error) {
	n := c.clone()
	if err := agentsOnce(f); err != nil {
		return nil, err
	}
	for i := range f.Profiles {
		base, err := n.base(f, &f.Profiles[i])
		if err != nil {
			return nil, err
		}
		made, err := change(base, &f.Profiles[i], f.Name)
		if err != nil {
			return nil, err
		}
		n.put(made)
	}
	return n, nil
}

// base returns the profile that a row changes, or from which a new one starts.
func (c *Catalog) base(f *ProfilesFile, row *ProfileRow) (*Row, error) {
	fail := func(field string, why, help string) error {
		on, ok := row.Places[field]
		if !ok {
			on = row.On
		}
		return &spec.DecodeError{Name: f.Name, Pos: on, Field: fieldPath(row.Name, field), Why: why, Help: help}
	}
	old := c.row(row.Name)
	switch {
	case row.Name == Own:
		return nil, fail("", "own stands for the agent's own profile at a launch point", "use another name")
	case old != nil && row.Extends.Set:
		return nil, fail("extends", row.Name+" is there already, and starts from itself", "leave extends out, or use another name")
	case old != nil:
		return old, nil
	case !row.Extends.Set:
		return nil, fail("", "a new profile starts from another", `add "extends": "read-only"`)
	}
	from := c.row(row.Extends.Value)
	if from == nil {
		if slices.ContainsFunc(f.Profiles, func(r ProfileRow) bool { return r.Name == row.Extends.Value && r.Name != row.Name }) {
			return nil, fail("extends", row.Extends.Value+" comes behind it", "write "+row.Extends.Value+" first")
		}
		return nil, fail("extends", "there is no profile "+row.Extends.Value, "")
	}
	return from, nil
}

func fieldPath(profile, field string) string {
	if field == "" {
		return "profiles." + profile
	}
	return "profiles." + profile + "." + field
}

// known refuses a launch point whose profile does not exist.
func (c *Catalog) known(f *ProfilesFile, p PointRow) error {
	if p.Profile == Own || c.row(p.Profile) != nil {
		return nil
	}
	return &spec.DecodeError{Name: f.Name, Pos: p.On, Field: "points." + p.Point, Why: "there is no profile " + p.Profile}
}

// agentsOnce refuses a document that puts an agent into two profiles.
func agentsOnce(f *ProfilesFile) error {
	var seen []string
	for i := range f.Profiles {
		for _, a := range f.Profiles[i].Agents {
			if slices.Contains(seen, a.Name) {
				return &spec.DecodeError{Name: f.Name, Pos: a.On, Field: fieldPath(f.Profiles[i].Name, "agents"), Why: a.Name + " is there twice"}
			}
			seen = append(seen, a.Name)
		}
	}
	return nil
}

// overlay returns base with the fields that row sets.
func overlay(base *Row, row *ProfileRow, from string) (Row, error) {
	r := *base
	r.Name, r.On, r.Places, r.From = row.Name, row.On, row.Places, from
	if row.Name != base.Name { // a new profile has only the agents that it names
		r.Agents, r.Extends = nil, spec.Some(base.Name)
	}
	replace(&r.Why, row.Why)
	replace(&r.AllowedTools, row.AllowedTools)
	replace(&r.BashPolicy, row.BashPolicy)
	replace(&r.Mode, row.Mode)
	replace(&r.Scoped, row.Scoped)
	replace(&r.Make, row.Make)
	replace(&r.WriteExisting, row.WriteExisting)
	if !row.Spec.Set {
		return r, nil
	}
	merged, err := spec.DecodeJoined(from, laid(base.Spec.Value.Node(), row.Spec.Value.Node()))
	if err != nil {
		return r, err
	}
	r.Spec = spec.Some(merged)
	return r, nil
}

func replace[T any](o *spec.Opt[T], by spec.Opt[T]) {
	if by.Set {
		*o = by
	}
}

// laid returns under with the fields of over in place of its own. Objects are merged field by
// field, except environment.set, which is one value.
func laid(under, over *spec.Node) *spec.Node {
	n := &spec.Node{Kind: spec.Object, Pos: over.Pos, Members: slices.Clone(under.Members)}
	for _, m := range over.Members {
		i := slices.IndexFunc(n.Members, func(o spec.Member) bool { return o.Key == m.Key })
		switch {
		case i < 0:
			n.Members = append(n.Members, m)
		case m.Value.Kind == spec.Object && n.Members[i].Value.Kind == spec.Object && m.Key != "set":
			n.Members[i].Value = laid(n.Members[i].Value, m.Value)
		default:
			n.Members[i] = m
		}
	}
	return n
}
