package main

import (
	"strconv"
	"strings"

	"sbx/internal/doc"
	"sbx/internal/reach"
	"sbx/internal/run"
	"sbx/spec"
)

// asked is what asked for a rule of the network, with its place: "network.allow[1]
// (spec.json:4:12): @npm".
func (x *execution) asked(cause string) string {
	field, set, _ := strings.Cut(cause, ": ")
	if at := x.Resolved.At(spec.Field(field)); at != "" {
		field += " (" + at + ")"
	}
	if set != "" {
		field += ": " + set
	}
	return field
}

// networkText lists what network.allow and network.listen come to.
func (x *execution) networkText() string {
	var b strings.Builder
	r := x.Resolved
	if r.Network == spec.NetworkAllow {
		b.WriteString("network.allow comes to:\n")
		if len(r.Reach) == 0 {
			b.WriteString("  nothing\n")
		}
		for i := range r.Reach {
			rule := &r.Reach[i]
			b.WriteString("  " + pad(spec.Shown(rule.Text), 40) + " " + spec.Shown(x.asked(rule.Cause)))
			if rule.Why != "" {
				b.WriteString(", " + rule.Why)
			}
			b.WriteString("\n")
		}
	}
	if len(r.Listen) > 0 {
		b.WriteString("network.listen comes to:\n")
	}
	for i, l := range r.Listen {
		b.WriteString("  " + pad("port "+strconv.Itoa(l.Inside)+" at "+l.HostPort()+" of the host", 40) + " " + spec.Shown(x.asked(run.ListenItem(i))) + "\n")
	}
	return b.String()
}

// writeNetwork writes the same as the member network.
func (x *execution) writeNetwork(w *doc.Writer) {
	r := x.Resolved
	w.KeyOpen("network", '{')
	w.KeyStr("mode", r.Network.String())
	if r.Network == spec.NetworkAllow {
		doc.Objects(w, "allow", r.Reach, func(rule *reach.Rule) {
			w.KeyStr("to", rule.Text)
			w.KeyStr("because", x.asked(rule.Cause))
			w.KeyText("why", rule.Why)
		})
	}
	if len(r.Listen) > 0 {
		w.KeyOpen("listen", '[')
		for i, l := range r.Listen {
			w.Item()
			w.Open('{')
			w.KeyStr("host", l.HostPort())
			w.KeyInt("inside", int64(l.Inside))
			w.KeyStr("because", x.asked(run.ListenItem(i)))
			w.Close('}')
		}
		w.Close(']')
	}
	w.Close('}')
}
