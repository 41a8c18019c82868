package outer

import (
	"slices"
	"strings"

	"sbx/spec"
	"sbx/wrap"
)

// Wrapper rewrites an invocation so that it runs in a sandbox. Wrap is pure: the
// same values give the same answer, and Wrap opens and starts nothing. Everything it knows of
// the machine is in the Host that the Wrapper was made with.
type Wrapper interface {
	// Name is the wrapper's, one of Wrappers.
	Name() string
	// Wrap returns the invocation that runs inv inside, and its audit. The error is spec.Problems.
	Wrap(inv Invocation) (Invocation, Audit, error)
}

// NewWrapper makes the wrapper of that name. The error is spec.Problems: the fields that the
// tool cannot enforce and the documents do not list in best_effort.
func NewWrapper(name string, a Ask) (Wrapper, error) { return newWrapper(name, a) }

// tools lists the tools in the order of `sbx help wrap`.
var tools = [...]*tool{&sbxTool, &bwrapTool, &nsjailTool, &runscTool, &dockerTool, &podmanTool, &noneTool}

// ToolsOf lists the programs of wrap.ToolNames that the wrapper of that name starts.
func ToolsOf(wrapper string) []string {
	if wrapper == nameRunsc {
		wrapper = nameDocker
	}
	if !slices.Contains(wrap.ToolNames(), wrapper) {
		return nil
	}
	return []string{wrapper}
}

// ReachesBroker reports whether a command in a container of the tool can reach a broker.
func ReachesBroker(tool string) bool { return tool == nameDocker || tool == namePodman }

// Wrappers lists the names of the wrappers.
func Wrappers() []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.name
	}
	return names
}

func newWrapper(name string, a Ask) (*wrapper, error) {
	t := toolOf(name)
	if t == nil {
		return nil, Choice(name, a.Image)
	}
	w := &wrapper{tool: t, a: a}
	if err := w.finish(); err != nil {
		return nil, err
	}
	return w, nil
}

// finish makes everything of a wrapper that no invocation changes.
func (w *wrapper) finish() error {
	if w.image {
		if err := Choice(w.name, w.a.Image); err != nil {
			return err
		}
	}
	w.askTool()
	if err := w.build(); err != nil {
		return err
	}
	w.checkMounts(w.a.Mounts)
	w.line = make([]Word, 0, 3*len(w.nodes)+64)
	w.args(w)
	w.openDoors()
	for _, l := range w.supervisedLacks() {
		w.note(l)
	}
	if len(w.problems) > 0 {
		return w.problems
	}
	w.labels = w.aliases()
	for _, l := range w.lacks {
		w.auditLacks = append(w.auditLacks, Lack{l.Field, w.labels.label(l.Why)})
	}
	if !w.a.Unlisted {
		w.head = w.auditHead()
	}
	return nil
}

// Name implements Wrapper.
func (w *wrapper) Name() string { return w.name }

// askTool asks the tool about each field that the documents set or an access_mode implies.
func (w *wrapper) askTool() {
	r, asked := w.a.Resolved, w.a.Resolved.Spec.Asked()
	if r.Network != spec.NetworkHost && !slices.Contains(asked, "network.mode") {
		asked = append(asked, "network.mode")
	}
	if len(wrap.OpenedDevices(r)) > 0 && w.name != nameSbx && w.name != bwrapTool.name {
		w.lack("filesystem.write", w.name+" is handed no device of the host")
	}
	if r.Network == spec.NetworkAllow && w.name != nameSbx {
		w.lack("network.allow", "sbx exec alone makes the connections that network.allow names: nothing could be reached")
	}
	if len(r.Listen) > 0 && w.name != nameSbx && w.name != nameNone {
		w.lack("network.listen", "sbx exec alone brings connections into a network that leads nowhere: nothing would be published")
	}
	switch {
	case r.Broker.File.Abs == "" || w.name == nameSbx:
	case w.name == nameRunsc:
		w.lack("broker.file", "gVisor connects to no socket of the host, by which a container reaches its broker")
	case w.a.Broker.Socket == "":
		w.lack("broker.file", "sbx exec alone starts a broker, itself or for a container")
	}
	for _, f := range asked {
		if why := w.cannot(w, f); why != "" {
			w.lack(f, why)
		}
	}
}

// Wrap implements Wrapper.
func (w *wrapper) Wrap(inv Invocation) (Invocation, Audit, error) {
	out, rest, err := w.rewrite(&inv)
	if err != nil {
		return Invocation{}, Audit{}, err
	}
	a := w.audit(&inv, &out, rest)
	if w.name != nameNone {
		out.Args = make([]string, 0, w.fixed()+len(rest))
		for i := range w.line[:w.fixed()] {
			out.Args = append(out.Args, w.line[i].Text)
		}
		out.Args = append(out.Args, rest...)
	}
	return out, a, nil
}

func toolOf(name string) *tool {
	if i := slices.IndexFunc(tools[:], func(t *tool) bool { return t.name == name }); i >= 0 {
		return tools[i]
	}
	return nil
}

// Choice returns why no wrapper of that name and image can be made, whatever the spec; nil if one
// can.
func Choice(name, image string) error {
	t := toolOf(name)
	switch {
	case t == nil:
		return spec.Problems{{On: name, Do: "wrap by it", Why: "it is not one of " + strings.Join(Wrappers(), ", ")}}
	case t.image && image == "":
		return spec.Problems{{Do: "run an image by " + name, Why: "none is named", Help: "give --image REF"}}
	case t.image && strings.HasPrefix(image, "-"):
		return spec.Problems{{On: image, Do: "run it as an image by " + name, Why: "the tool would take it for a flag", Help: "give --image REF"}}
	}
	return nil
}

// NeedsOf returns the oldest version of a tool that accepts each argument of ours, and whether
// the tool runs images; ok is false for sbx, none and unknown names.
func NeedsOf(name string) (version string, image, ok bool) {
	for _, t := range tools {
		if t.name == name && t.needs != "" {
			return t.needs, t.image, true
		}
	}
	return "", false, false
}
