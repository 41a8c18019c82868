package profile

import (
	"slices"
	"strings"

	"sbx/spec"
)

// Row is one profile, complete, and where it was last changed.
type Row struct {
	ProfileRow
	From string // "built in" or a file
	// Narrowing are a project's own specs for it, in their order. Each is no
	// wider than what stands before it.
	Narrowing []*spec.SandboxSpec
}

// Catalog is all profiles, with their agents, and the launch points.
type Catalog struct {
	Rows   []Row
	Points []Point
}

// Point is a launch point and the profile that holds there: Own is the
// agent's own.
type Point struct{ Name, Profile, From string }

const builtIn = "built in"

// Builtin is the catalog that sbx brings.
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

// Find is the profile of a name; READ_ONLY is read-only.
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

// of is the profile that an agent belongs to, or nil.
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

// PointsOf lists the launch points at which a profile holds.
func (c *Catalog) PointsOf(profile string) []string {
	all := []string{}
	for _, p := range c.Points {
		if p.Profile == profile {
			all = append(all, p.Name)
		}
	}
	return all
}

// clone is a catalog that can be changed without changing this one.
func (c *Catalog) clone() *Catalog {
	n := &Catalog{Rows: slices.Clone(c.Rows), Points: slices.Clone(c.Points)}
	for i := range n.Rows {
		n.Rows[i].Agents = slices.Clone(n.Rows[i].Agents)
	}
	return n
}

// put puts a row in its place, or at the end.
func (c *Catalog) put(r Row) *Row {
	if old := c.row(r.Name); old != nil {
		*old = r
		return old
	}
	c.Rows = append(c.Rows, r)
	return &c.Rows[len(c.Rows)-1]
}

// move makes an agent one of a profile's, and of no other's.
func (c *Catalog) move(agent Named, to string) {
	for i := range c.Rows {
		r := &c.Rows[i]
		r.Agents = slices.DeleteFunc(r.Agents, func(n Named) bool { return n.Name == agent.Name })
		if r.Name == to {
			r.Agents = append(r.Agents, agent)
		}
	}
}
