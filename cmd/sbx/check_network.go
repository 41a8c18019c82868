package main

import (
	"strconv"
	"strings"

	"sbx/audit/show"
	"sbx/internal/doc"
	"sbx/internal/reach"
	"sbx/internal/run"
	"sbx/spec"
)

// asked returns the source of a network rule with its position: "network.allow[1]
// (spec.json:4:12): @npm".
func (x *execution) asked(cause string) string {
	field, set, _ := strings.Cut(cause, ": ")
	return x.sourceText(field, field, set)
}

// networkParts lists the rules that network.allow and network.listen expand to.
func (x *execution) networkParts() (parts []show.Part) {
	r := x.Resolved
	if r.Network == spec.NetworkAllow {
		part := show.Part{Title: "network.allow comes to"}
		for i := range r.Reach {
			rule := &r.Reach[i]
			why := x.asked(rule.Cause)
			if rule.Why != "" {
				why += ", " + rule.Why
			}
			part.Rows = append(part.Rows, show.Row{What: spec.Shown(rule.Text), Why: why})
		}
		if len(r.Reach) == 0 {
			part.Rows = []show.Row{{What: "nothing"}}
		}
		parts = append(parts, part)
	}
	if len(r.Listen) > 0 {
		part := show.Part{Title: "network.listen comes to"}
		for i, l := range r.Listen {
			part.Rows = append(part.Rows, show.Row{What: "port " + strconv.Itoa(l.Inside) + " at " + l.HostPort() + " of the host", Why: x.asked(run.ListenItem(i))})
		}
		parts = append(parts, part)
	}
	return parts
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
