package profile

import (
	"sbx/internal/doc"
	"sbx/spec"
)

// JSON returns the catalog as one object: {profiles: [{name, why, agents, launch_points, from}],
// own: [launch point]}.
func (c *Catalog) JSON() string {
	rows := &spec.Node{Kind: spec.List}
	for i := range c.Rows {
		r := &c.Rows[i]
		rows.Items = append(rows.Items, object(text("name", r.Name), text("why", r.Why.Value),
			texts("agents", named(r.Agents)), texts("launch_points", c.PointsOf(r.Name)), text("from", r.From)))
	}
	return line(object(member("profiles", rows), texts("own", c.PointsOf(Own))))
}

// JSON returns the view as one object.
func (v View) JSON() string {
	r := v.Row
	kept, lacking, narrowing := &spec.Node{Kind: spec.List}, &spec.Node{Kind: spec.List}, &spec.Node{Kind: spec.List}
	for _, s := range v.Specs[1:] {
		narrowing.Items = append(narrowing.Items, s.Node())
	}
	for _, k := range v.Flags.Kept {
		kept.Items = append(kept.Items, keptNode(k))
	}
	for _, l := range v.Flags.Lacking {
		lacking.Items = append(lacking.Items, object(text("tool", l.Tool), text("why", l.Why)))
	}
	own := &spec.Node{Kind: spec.Object}
	for _, m := range ownModes {
		own.Members = append(own.Members, texts(m.word, v.own(m.mode)))
	}
	return line(object(text("name", r.Name), text("why", r.Why.Value), text("from", r.From),
		texts("agents", named(r.Agents)), texts("launch_points", v.Points),
		texts("allowed_tools", r.AllowedTools.Value), texts("bash_policy", r.BashPolicy.Value),
		text("permission_mode", r.Mode.Value.String()),
		member("project_scoped", doc.Truth(r.Scoped.Value)),
		member("spec", v.Specs[0].Node()), member("narrowed_by", narrowing), text("agent", v.Agent.String()), member("own", own), texts("flags", v.Flags.Args),
		member("kept", kept), member("lacking", lacking), texts("notes", v.Found.Notes())))
}

// ListJSON returns arguments as a JSON list.
func ListJSON(args []string) string { return line(texts("", args).Value) }

func line(n *spec.Node) string { return string(n.AppendJSON(nil, nil)) + "\n" }

func object(members ...spec.Member) *spec.Node {
	return &spec.Node{Kind: spec.Object, Members: members}
}

func member(name string, n *spec.Node) spec.Member { return spec.Member{Key: name, Value: n} }

func text(name, s string) spec.Member { return member(name, doc.Str(s)) }

func texts(name string, all []string) spec.Member { return member(name, doc.Strs(all)) }
