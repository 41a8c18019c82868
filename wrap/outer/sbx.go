package outer

import (
	"slices"

	"sbx/spec"
	"sbx/wrap"
)

// sbxTool is sbx itself, which enforces every field and looks at the host again when the command
// starts.
var sbxTool = tool{name: nameSbx, args: sbxArgs, cannot: func(w *wrapper, f spec.Field) string {
	if f == "syscalls" && len(w.a.Resolved.MoreSyscalls) > 0 {
		return "one document has one list of system calls"
	}
	return ""
}}

// sbxDocument is the index of the spec in the line.
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

// withSources adds to a document read-only mounts of the spec files that would be writable
// inside: the next wrapping reads them, and the sbx that gets the one document cannot know them.
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

// member returns a member of an object, and adds it if it is missing.
func member(n *spec.Node, key string, k spec.Kind) *spec.Node {
	if have := n.Get(key); have != nil {
		return have
	}
	n.Members = append(n.Members, spec.Member{Key: key, Value: &spec.Node{Kind: k}})
	return n.Get(key)
}
