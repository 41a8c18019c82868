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
