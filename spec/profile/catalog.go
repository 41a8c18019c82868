package profile

import (
	"slices"
	"strings"

	"sbx/spec"
)

// Row is a complete profile, and the document that last changed it.
type Row struct {
	ProfileRow
	From string // "built in" or a file
	// Narrowing has a project's own specs for it, in order. None is wider than the one before it,
	// or than the profile.
	Narrowing []*spec.SandboxSpec
}

// Catalog has all profiles, with their agents, and the launch points.
type Catalog struct {
	Rows   []Row
	Points []Point
}

// Point is a launch point and the profile that applies there; Own means the agent's own.
type Point struct{ Name, Profile, From string }

const builtIn = "built in"

// Builtin returns the catalog that is built into sbx.
func Builtin() *Catalog {
	c := &Catalog{}
	f := BuiltinProfiles()
	for _, r := range f.Profiles {
		c.Rows = append(c.Rows, Row{ProfileRow: r, From: builtIn})
	}
	for _, p := range f.Points {
		c.Points = append(c.Points, Point{p.Point, p.Profile, builtIn})
	}
	return c
}

// Find returns the profile of a name; READ_ONLY means read-only.
func (c *Catalog) Find(name string) (*Row, error) {
	if r := c.row(ProfileName(name)); r != nil {
		return r, nil
	}
	return nil, &spec.Problem{On: name, Do: "find the profile", Why: "there is none of that name", Help: "known: " + strings.Join(c.names(), ", ")}
}

func (c *Catalog) row(name string) *Row {
	for i := range c.Rows {
		if c.Rows[i].Name == name {
			return &c.Rows[i]
		}
	}
	return nil
}

func (c *Catalog) names() []string {
	var all []string
	for i := range c.Rows {
		all = append(all, c.Rows[i].Name)
	}
	return all
}

// of returns the profile to which an agent belongs, or nil.
func (c *Catalog) of(agent string) *Row {
	for i := range c.Rows {
		if slices.ContainsFunc(c.Rows[i].Agents, func(n Named) bool { return n.Name == agent }) {
			return &c.Rows[i]
		}
	}
	return nil
}

func (c *Catalog) point(name string) *Point {
	for i := range c.Points {
		if c.Points[i].Name == name {
			return &c.Points[i]
		}
	}
	return nil
}

// PointsOf lists the launch points at which a profile applies.
func (c *Catalog) PointsOf(profile string) []string {
	all := []string{}
	for _, p := range c.Points {
		if p.Profile == profile {
			all = append(all, p.Name)
		}
	}
	return all
}

// clone returns a copy of the catalog that can be changed by itself.
func (c *Catalog) clone() *Catalog {
	n := &Catalog{Rows: slices.Clone(c.Rows), Points: slices.Clone(c.Points)}
	for i := range n.Rows {
		n.Rows[i].Agents = slices.Clone(n.Rows[i].Agents)
	}
	return n
}

// put replaces the row of the same name, or appends r.
func (c *Catalog) put(r Row) *Row {
	if old := c.row(r.Name); old != nil {
		*old = r
		return old
	}
	c.Rows = append(c.Rows, r)
	return &c.Rows[len(c.Rows)-1]
}

// move moves an agent to a profile and out of all others.
func (c *Catalog) move(agent Named, to string) {
	for i := range c.Rows {
		r := &c.Rows[i]
		r.Agents = slices.DeleteFunc(r.Agents, func(n Named) bool { return n.Name == agent.Name })
		if r.Name == to {
			r.Agents = append(r.Agents, agent)
		}
	}
}
