package wrap

import (
	"slices"
	"strings"

	"sbx/internal/reach"
	"sbx/spec"
)

// nestedNetwork compares the network, of which nothing more can be taken away inside
// than all of it.
func (b *builder) nestedNetwork(held *Parent) {
	if b.r.Network == spec.NetworkAllow && held.Network == b.r.Network {
		if !slices.ContainsFunc(held.Reach, func(text string) bool { return !b.reaches(text) }) {
			return
		}
		b.narrower("network", "the outer sandbox reaches more: "+strings.Join(held.Reach, ", "), Degraded)
		return
	}
	if b.r.Network == spec.NetworkHost || held.Network <= b.r.Network {
		return
	}
	b.plan.Filter.NoInet = b.r.Network == spec.NetworkNone && b.plan.Filter.On
	b.narrower("network", "the outer sandbox has "+held.Network.String()+"; sockets by path stay", Degraded)
}

// reaches tells whether the spec allows all of an endpoint.
func (b *builder) reaches(text string) bool {
	outer, err := reach.Expand(text, "")
	return err == nil && len(reach.Wider(b.r.Reach, outer)) == 0
}

// published are the outer sandbox's ports, as ParseParent reads them.
func (p *Parent) published() (all []string) {
	for _, l := range p.Listen {
		all = append(all, l.Long())
	}
	return all
}

// parsePublished reads what published wrote.
func parsePublished(list *spec.Node) (all []reach.Listen, ok bool) {
	if list == nil {
		return nil, true
	}
	for _, item := range list.Items {
		l, err := reach.ParseListen(item.Text)
		if err != nil {
			return nil, false
		}
		all = append(all, l)
	}
	return all, true
}

// nestedListen compares the ports that are published: those of the outer sandbox lead to
// whoever listens inside of it.
func (b *builder) nestedListen(held *Parent) {
	if more := uncovered(b.r.Listen, held.Listen); more != "" {
		b.unpublished("the outer sandbox does not publish "+more, "set it in the outer spec")
	}
	if more := uncovered(held.Listen, b.r.Listen); more != "" {
		b.narrower("network.listen", "the outer sandbox publishes "+more, Unavailable)
	}
}

// uncovered is the first of some ports that others do not cover; "" for none.
func uncovered(ports, by []reach.Listen) string {
	for _, l := range ports {
		if !slices.ContainsFunc(by, func(other reach.Listen) bool { return other.Covers(l) }) {
			return l.Long()
		}
	}
	return ""
}
