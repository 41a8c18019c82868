package grant

import (
	"slices"

	"sbx/internal/broker/caps"
	"sbx/internal/broker/wire"
	"sbx/internal/reach"
	"sbx/internal/view"
	"sbx/wrap"
)

// Granted is what the sandbox's own spec gives.
type Granted struct {
	Tree     view.Tree
	Reach    reach.Reach
	AnyHost  bool
	Any      bool // any program
	Programs []string
	Caps     []caps.Cap // broker.grant
}

var accesses = []view.Access{view.Absent, view.Hidden, view.Read, view.Write}

// New makes it of what sbx tells; dir is the sandbox's workspace.
func New(g *wire.Granted, dir string) (*Granted, error) {
	made := &Granted{Tree: view.New(len(g.View)), Any: g.Any, Programs: g.Programs}
	for _, p := range g.View {
		i := slices.IndexFunc(accesses, func(a view.Access) bool { return a.String() == p.Access })
		if i < 0 || p.Path == "" || p.Path[0] != '/' {
			return nil, &Error{"view", p.Path, "no place of a view"}
		}
		made.Tree = made.Tree.With(view.Layer{Path: p.Path, Grant: view.Grant{Access: accesses[i], Source: p.Source, Protected: p.Protected}})
	}
	for _, top := range g.Trees {
		made.Tree = made.Tree.WithNames(view.Names{Top: top, Because: func(rel string) (view.Cause, bool) {
			row, ok := wrap.IsProtectedName(rel)
			return view.Cause{Why: row.Why}, ok
		}})
	}
	for _, text := range g.Reach {
		if text == "*" {
			made.AnyHost = true
			continue
		}
		rules, err := reach.Expand(text, "network.allow")
		if err != nil {
			return nil, &Error{"network.allow", text, err.Error()}
		}
		made.Reach = append(made.Reach, rules...)
	}
	for _, text := range g.Caps {
		c, why := caps.Parse(text, dir)
		if why != "" {
			return nil, &Error{"broker.grant", text, why}
		}
		made.Caps = append(made.Caps, c)
	}
	return made, nil
}

// Error is a grant that cannot be read.
type Error struct{ Field, On, Why string }

// Error is the error on one line.
func (e *Error) Error() string { return e.Field + ": " + e.On + ": " + e.Why }

// Covers tells whether the spec gives all that c allows.
func (g *Granted) Covers(c caps.Cap) bool {
	if caps.Covered(c, g.Caps) {
		return true
	}
	switch c.Kind {
	case caps.Read, caps.Write:
		return g.shows(c.Value, view.Read+view.Access(c.Kind))
	case caps.Net:
		return g.AnyHost || slices.ContainsFunc(g.Reach, func(r reach.Rule) bool { return r.Covers(c.To) })
	case caps.Exec:
		return g.Any || slices.Contains(g.Programs, c.Value)
	}
	return false
}

// shows tells whether the host's files at a path and all beneath it may be read, or
// written. What a rule about names protects beneath does not count: a tool's own
// sandbox protects the same.
func (g *Granted) shows(path string, access view.Access) bool {
	if at := g.Tree.At(path); at.Access < access || at.Source == "" {
		return false
	}
	for _, p := range g.Tree.Places() {
		if !view.Within(p, path) || p == path {
			continue
		}
		if at := g.Tree.At(p); at.Access < access && !(at.Protected && at.Access == view.Read) || at.Source == "" {
			return false
		}
	}
	return true
}

// Lack is a capability that a call needs and does not have.
type Lack struct {
	Cap     caps.Cap
	Granted bool // the spec gives it, and the step did not ask for it
}

// Check is the engine: what of needed is not asked for, and what of requested the
// sandbox's spec does not give. nil allows.
func (g *Granted) Check(needed, requested []caps.Cap) *Lack {
	for _, c := range requested {
		if !g.Covers(c) {
			return &Lack{Cap: c}
		}
	}
	for _, c := range needed {
		if !caps.Covered(c, requested) {
			return &Lack{c, g.Covers(c)}
		}
	}
	return nil
}

// Advice is what would let a call have what it lacks.
func (l *Lack) Advice() (reason, allowWith string) {
	if l.Granted {
		return "its step does not ask for " + l.Cap.String(), `requested_caps: ["` + l.Cap.String() + `"]`
	}
	return "the sandbox's spec does not give " + l.Cap.String(), `broker.grant: ["` + l.Cap.String() + `"]`
}
