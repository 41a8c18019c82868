package wrap

import (
	"slices"
	"strings"

	"sbx/internal/reach"
	"sbx/landlock"
	"sbx/spec"
)

// nestedNetwork compares the network with the outer sandbox's. No network namespace can be made
// inside, so the outer supervisor enforces a narrower request, if it can.
func (b *nesting) nestedNetwork(held *Parent) {
	why := "the outer sandbox has " + held.Network.String()
	switch {
	case b.r.Network == spec.NetworkHost || held.Network < b.r.Network:
		return
	case held.Network != b.r.Network:
	case b.r.Network != spec.NetworkAllow || !slices.ContainsFunc(held.Reach, func(text string) bool { return !b.reaches(text) }):
		return
	default:
		why = "the outer sandbox reaches more: " + strings.Join(held.Reach, ", ")
	}
	b.plan.Filter.NoInet = b.r.Network == spec.NetworkNone && b.plan.Filter.On
	switch {
	case held.Network == spec.NetworkHost: // its supervisor decides on no connect
		why += "; sockets by path stay"
	case !held.Narrows:
		why += ", and its supervisor answers no sbx inside (--counter)"
	case !b.plan.Filter.On:
		why += ", and no seccomp filter can be loaded"
	case b.h.LandlockABI < scopesABI:
		why += ", and Landlock keeps the command from no process outside (Linux " + landlock.Kernel(scopesABI) + ")"
	default:
		b.plan.Filter.NoFastOpen = true
		b.plan.Narrow = &Narrow{Sockets: (&network{b.places}).namedSockets(), Told: b.req.Describe != DescribeNone}
		for i := range b.r.Reach {
			b.plan.Narrow.Reach = append(b.plan.Narrow.Reach, b.r.Reach[i].Text)
		}
		return
	}
	b.narrower("network", why, Degraded)
}

// reaches reports whether the spec allows everything that an endpoint covers.
func (b *nesting) reaches(text string) bool {
	outer, err := reach.Expand(text, "")
	return err == nil && len(reach.Wider(b.r.Reach, outer)) == 0
}

// published returns the outer sandbox's ports in the form that parsePublished reads.
func (p *Parent) published() (all []string) {
	for _, l := range p.Listen {
		all = append(all, l.Long())
	}
	return all
}

// parsePublished reads the texts that published returned.
func parsePublished(texts []string) (all []reach.Listen, ok bool) {
	for _, text := range texts {
		l, err := reach.ParseListen(text)
		if err != nil {
			return nil, false
		}
		all = append(all, l)
	}
	return all, true
}

// nestedListen compares the published ports with the outer sandbox's: a connection to one of those
// reaches any program inside that listens on it.
func (b *nesting) nestedListen(held *Parent) {
	if more := uncovered(b.r.Listen, held.Listen); more != "" {
		b.unpublished("the outer sandbox does not publish "+more, "set it in the outer spec")
	}
	if more := uncovered(held.Listen, b.r.Listen); more != "" {
		b.narrower("network.listen", "the outer sandbox publishes "+more, Unavailable)
	}
}

// uncovered returns the first of ports that no element of by covers; "" for none.
func uncovered(ports, by []reach.Listen) string {
	for _, l := range ports {
		if !slices.ContainsFunc(by, func(other reach.Listen) bool { return other.Covers(l) }) {
			return l.Long()
		}
	}
	return ""
}
