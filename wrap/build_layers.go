package wrap

import (
	"slices"
	"strings"

	"sbx/internal/view"
	"sbx/spec"
)

// learned returns the directories to cover with a writable overlay, for a run that learns what the
// command writes: outside of the writable trees it writes to a copy of the sandbox's own. If only
// parts of a directory are in view, these parts are covered.
func (b *homeLayer) learned() (dirs []string) {
	if !b.r.Learn || b.h.Overlay.State == No || b.h.Layer.State == No {
		return nil
	}
	for i := range b.h.Layers {
		l := &b.h.Layers[i]
		parts := []string{l.Dir}
		if l.Why != "" {
			continue
		}
		if b.view.At(l.Dir).Source != l.Dir {
			parts = b.view.Parts(l.Dir)
		}
		for _, dir := range parts {
			if g := b.view.At(dir); g.Source == dir && !g.File && !b.inWritable(dir) && !b.isHidden(dir) && b.onTop(dir) < 0 && !b.covered(dir) && !b.readOnlyTree(dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// shownLayers is the greatest number of directories without a layer that the record names.
const shownLayers = 3

// layerFaults reports directories without such a layer. Writes there are denied, as in any run.
func (b *draft) layerFaults() {
	switch {
	case b.plan.Base == BaseHost && b.h.Parent != nil:
		b.fault(FieldLayer, Unavailable, "nothing can be mounted inside another sandbox")
	case b.plan.Base == BaseHost:
		b.fault(FieldLayer, Unavailable, "no namespaces: "+b.h.rungWhy())
	case b.h.Overlay.State == No:
		b.fault(FieldLayer, Unavailable, b.h.Overlay.Why)
	case b.h.Layer.State == No:
		b.fault(FieldLayer, Unavailable, b.h.Layer.Why)
	}
	if b.plan.Base != BaseHost && len(b.plan.Written()) == 0 {
		b.fault(FieldLayer, Unavailable, "nothing that the caller may write is in view except the workspace")
	}
	var without []string
	for i := range b.h.Layers {
		if l := &b.h.Layers[i]; l.Why != "" {
			without = append(without, l.Dir+" ("+l.Why+")")
		}
	}
	if n := len(without) - shownLayers; n > 0 {
		without = append(without[:shownLayers], itoa(n)+" more")
	}
	if len(without) > 0 {
		b.fault(FieldLayer, Degraded, "none over "+strings.Join(without, ", "))
	}
}

// layer returns what Probe found about a directory that may get a layer.
func (h *Host) layer(dir string) Layer {
	if i := slices.IndexFunc(h.Layers, func(l Layer) bool { return l.Dir == dir }); i >= 0 {
		return h.Layers[i]
	}
	return Layer{Mode: 0o755}
}

// rebuilds reports whether a cover is the agent's home, rebuilt from binds.
func (b *covering) rebuilds(c *cover) bool {
	return c.layer && !c.learned && b.home == homeRebuilt
}

// layerField returns the field of the record's line for a layer.
func (c *cover) layerField() spec.Field {
	if c.learned {
		return FieldLayer
	}
	return FieldHome
}

// Secrets lists the paths inside at which a default secret is hidden.
func (p *Plan) Secrets() (hidden []string) {
	for _, path := range p.View.Places() {
		if g := p.View.At(path); g.Access < view.Read && g.Because.Field == string(FieldSecrets) {
			hidden = append(hidden, path)
		}
	}
	return hidden
}

// Written is a directory of the host that an overlay covers. Upper is the layer to which the
// command writes, Hides the layer that hides names; both are relative to the tmpfs of SlotScratch.
type Written struct{ Dir, Upper, Hides string }

// Written lists the layers of a Plan for learning. An agent's home is not listed: it is a layer in
// every run.
func (p *Plan) Written() (all []Written) {
	for i := range p.items {
		if c := p.items[i].cover; c != nil && c.learned {
			all = append(all, Written{c.dir, "written" + itoa(c.n), "layer" + itoa(c.n)})
		}
	}
	return all
}
