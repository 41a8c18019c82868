package spec

import (
	"slices"
	"strings"

	"sbx/internal/reach"
)

func (o *order) network() {
	p, c := o.p, o.c
	byAgent := c.AgentNetwork && p.Agent == 0 && p.AccessMode.Guards() // which is told of the agent
	if c.Network > p.Network && !byAgent {
		f := Field("network.mode")
		if c.At(f) == "" && c.At("network.allow") != "" {
			f = "network.allow"
		}
		o.wider(f, "network "+c.Network.String(), p.Network.String(), o.at("network.mode"))
	}
	if p.Network == NetworkAllow && c.Network == NetworkAllow {
		o.reach()
	}
	if p.Spec.Network.Value.Listen.Set || p.Network != NetworkHost {
		for i, port := range c.Listen {
			if !slices.ContainsFunc(p.Listen, func(has reach.Listen) bool { return has.Covers(port) }) {
				o.item("network.listen", i, port.String(), "not that port", o.at("network.listen"))
			}
		}
	}
}

// reach compares what may be reached: the hosts of a set are told one by one.
func (o *order) reach() {
	for _, more := range reach.Wider(o.p.Reach, o.c.Reach) {
		at, set, _ := strings.Cut(more.Cause, ": ")
		asked := odd(more.Text)
		if set != "" {
			asked += " (" + set + ")"
		}
		o.wider(Field(at), asked, orElse(strings.Join(o.p.Spec.Network.Value.Allow.Value, ", "), "none"), o.at("network.allow"))
	}
}

// item refuses one item of a list; where is where the parent says so.
func (o *order) item(f Field, i int, asked, has, where string) {
	at := item(f, i)
	why := "the parent has " + orElse(has, "none")
	if where != "" {
		why += " (" + where + ")"
	}
	o.problems = append(o.problems, &Problem{Field: at, On: o.c.At(at), Do: "have " + odd(asked), Why: why, Help: NarrowHelp})
}

// variables compares the names that the command gets. What the parent sets
// stays set; a value of the child's for a name that it gets is its own.
func (o *order) variables() {
	p, c := o.p, o.c
	has := make(map[string]bool, len(p.Passed))
	for _, name := range p.Passed {
		has[name] = true
	}
	dropped := make(map[string]bool, len(p.Dropped))
	for _, name := range p.Dropped {
		dropped[name] = true
	}
	set := c.Spec.Environment.Value.Set.Value
	for _, name := range c.Passed {
		_, sets := set[name]
		switch {
		case has[name]:
		case p.withoutProxy(name) && p.passes(name, c.passedValue(name), func(string) bool { return false }):
		case sets && !dropped[name] && p.passesName(name):
		case sets:
			o.wider("environment.set", name, "it kept from the command", orElse(o.at("environment.pass"), o.at("environment.set")))
		default:
			o.wider("environment.pass", name, "it kept from the command", o.at("environment.pass"))
		}
	}
}

// passesName tells whether a variable of that name would be passed, did the
// caller have it with a harmless value.
func (r *Resolved) passesName(name string) bool {
	return r.passes(name, "", func(string) bool { return false }) && !(r.Limited && isLoaders(name))
}
