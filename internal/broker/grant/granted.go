package grant

import (
	"slices"

	"sbx/internal/broker/caps"
	"sbx/internal/broker/wire"
	"sbx/internal/reach"
	"sbx/internal/view"
	"sbx/wrap/defaults"
)

// Granted is what the sandbox's own spec gives.
type Granted struct {
	Tree     view.Tree
	Reach    reach.Reach
	AnyHost  bool
	Any      bool // any program may be executed
	Programs []string
	Caps     []caps.Cap // broker.grant
}

var accesses = []view.Access{view.Absent, view.Hidden, view.Read, view.Write}

// New makes a Granted from the message of sbx; dir is the sandbox's workspace.
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
			row, ok := defaults.IsProtectedName(rel)
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

// Error is an invalid part of the message.
type Error struct{ Field, On, Why string }

// Error returns the error on one line.
func (e *Error) Error() string { return e.Field + ": " + e.On + ": " + e.Why }

// Covers reports whether the spec grants everything that c allows.
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

// shows reports whether files of the host at path and everywhere below it have the access.
// Files below it that only a rule about names protects from writing do not matter: a
// tool's own sandbox protects them in the same way.
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

// Lack is a missing capability of a call.
type Lack struct {
	Cap     caps.Cap
	Granted bool // the spec grants it, and the step did not request it
}

// Check returns the first requested capability that the sandbox's spec does not grant, or
// the first needed one that was not requested; nil if there is none.
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

// Advice returns the reason of the denial, and the line that would allow the call.
func (l *Lack) Advice() (reason, allowWith string) {
	if l.Granted {
		return "its step does not ask for " + l.Cap.String(), `requested_caps: ["` + l.Cap.String() + `"]`
	}
	return "the sandbox's spec does not give " + l.Cap.String(), `broker.grant: ["` + l.Cap.String() + `"]`
}
