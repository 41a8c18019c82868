package outer

import (
	"slices"

	"sbx/spec"
	"sbx/wrap"
)

// sbxTool is sbx itself, which holds every field and looks at the host anew when
// the command is started.
var sbxTool = tool{name: nameSbx, args: sbxArgs, cannot: func(w *wrapper, f spec.Field) string {
	if f == "syscalls" && len(w.a.Resolved.MoreSyscalls) > 0 {
		return "one document has one list of system calls"
	}
	return ""
}}

// sbxDocument is where the line has the spec.
const sbxDocument = 2

func sbxArgs(w *wrapper) {
	r := w.a.Resolved
	for name, value := range r.Spec.Environment.Value.Set.Value {
		if _, looks := spec.LooksLikeCredential(name, value); looks {
			w.note(Lack{"environment.set", "its values stand on the line, where every user of the host can read them"})
		}
	}
	w.add("exec", "--spec-json", string(w.withSources(r.Document()).AppendJSON(nil, nil)))
	if j := r.Job; j != nil {
		if j.Input.Real != "" {
			w.add("--input", j.Input.Real)
		}
		if j.Output.Real != "" {
			w.add("--output", j.Output.Real)
		}
	}
	w.add("--")
	w.slot(SlotCmd, "")
	w.slot(SlotArgs, "")
}

// withSources adds to a document, as mounts to read, the files that made it and
// could be written inside: the sbx that is told the one document does not know them,
// and the next wrapping reads them.
func (w *wrapper) withSources(doc *spec.Node) *spec.Node {
	for _, path := range w.a.Sources {
		if !slices.ContainsFunc(w.nodes, func(n wrap.Node) bool { return n.Kind == wrap.NodeBind && n.Mode == wrap.ModeRO && n.Path == path }) ||
			slices.ContainsFunc(w.a.Resolved.Mounts, func(m spec.MountAt) bool { return m.Target == path }) {
			continue
		}
		m := &spec.Node{Kind: spec.Object}
		for _, v := range [][2]string{{"label", "spec"}, {"source", path}, {"target", path}, {"mode", "ro"}} {
			m.Members = append(m.Members, spec.Member{Key: v[0], Value: &spec.Node{Kind: spec.String, Text: v[1]}})
		}
		list := member(member(doc, "filesystem", spec.Object), "mounts", spec.List)
		list.Items = append(list.Items, m)
	}
	return doc
}

// member is a member of an object, made where it is missing.
func member(n *spec.Node, key string, k spec.Kind) *spec.Node {
	if have := n.Get(key); have != nil {
		return have
	}
	n.Members = append(n.Members, spec.Member{Key: key, Value: &spec.Node{Kind: k}})
	return n.Get(key)
}
