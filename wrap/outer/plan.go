package outer

import (
	"slices"
	"unicode/utf8"

	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
)

// build makes the Plan that the tool will carry out.
func (w *wrapper) build() error {
	r, h := *w.a.Resolved, w.host()
	if w.image { // outside the spec's own paths the command sees the image
		r.Visible, r.System, r.FileRules = true, false, true
		if !r.Confined {
			r.Confined = true
			r.Write = append(slices.Clone(r.Write), r.WorkingDir)
		}
	}
	if w.name == nameContainer && !r.Spec.Filesystem.Value.Read.Set {
		r.Visible = false // a workshop's, which containerCannot has refused or best_effort waives
	}
	// askTool has noted or refused already the fields that the tool cannot enforce.
	for _, l := range w.lacks {
		r.BestEffort = append(slices.Clone(r.BestEffort), l.Field)
	}
	for _, p := range w.problems {
		r.BestEffort = append(slices.Clone(r.BestEffort), p.Field)
	}
	req := &w.asked.Request
	*req = wrap.Request{NewRoot: w.root, Argv: []string{""}, Program: req.Program, Record: w.a.Record, Sources: w.a.Sources, Counter: wrap.CounterNone, Describe: wrap.DescribeNone}
	if w.name == nameSbx {
		req.Counter, req.Describe = wrap.CounterAuto, wrap.DescribeAll
	}
	if w.name == nameContainer && w.a.Supervised {
		req.Counter, req.Describe, req.AnySocket = wrap.CounterAuto, wrap.DescribeAll, true
	}
	w.asked.Resolved, w.asked.Host = &r, &h
	plan, err := wrap.Build(&r, &h, *req)
	if err != nil {
		if p, ok := err.(spec.Problems); ok {
			return append(w.problems, p...)
		}
		return err
	}
	w.plan = plan
	if w.name == nameOCI && plan.Base == wrap.BaseHost {
		w.refuse("access_mode", "make a bundle", "the spec constrains no files, and a bundle has a root of its own", "set access_mode")
	}
	if w.root && plan.Base == wrap.BasePlace {
		w.refuse("filesystem", "have "+w.name+" show the host's files", "the names in / are not known", "probe the host for it")
	}
	nodes, copied := plan.Nodes()
	w.nodes = slices.DeleteFunc(nodes, func(n wrap.Node) bool { // an argument cannot name it: it stays hidden
		return !utf8.ValidString(n.Path) && (n.Soft || n.Kind == wrap.NodeDir || n.Kind == wrap.NodeFile || n.Kind == wrap.NodeLink)
	})
	if w.name != nameSbx { // sbx carries out the Plan itself
		for _, dir := range copied {
			w.lack(wrap.FieldHome, w.name+": no private copy of "+dir+" can be made")
		}
	}
	return nil
}

// host returns the host as the tool uses it: with all namespaces, and without the mechanisms
// that only sbx has.
func (w *wrapper) host() wrap.Host {
	h := *w.a.Host
	if w.name == nameSbx {
		return h
	}
	h.Rungs = [3]wrap.Answer{{State: wrap.Yes}, {State: wrap.Yes}, {State: wrap.Yes}}
	h.Overlay = wrap.Answer{State: wrap.No, Why: w.name + " lays no overlays"}
	h.Layer, h.Listing = h.Overlay, w.listings()
	if w.name == nameContainer { // nobody replaces an image's files: each is masked
		h.Listing = slices.DeleteFunc(slices.Clone(h.Listing), func(l wrap.Listing) bool { return l.Dir != "/" })
	}
	h.Parent, h.FreeParent, h.Outer = nil, nil, false
	h.Seccomp = wrap.Answer{State: wrap.Yes}
	if w.name != nameContainer || !w.a.Supervised {
		h.Listener = wrap.Answer{State: wrap.No, Why: w.name + " answers no calls"}
	}
	h.Tracer = wrap.Answer{State: wrap.No, Why: w.name + " does not trace"}
	if w.name != nameContainer { // where sbx-init applies Landlock
		h.LandlockABI = max(h.LandlockABI, 1)
	}
	// The tool's streams and terminal are its caller's.
	h.Streams, h.Terminal = nil, ""
	if w.image { // the image has its own
		h.System, h.Keep, h.Devices, h.ProcRO, h.ProcMask = nil, nil, nil, nil, nil
	}
	if !w.a.Supervised || w.image || w.name == nameContainer {
		for i := range h.Groups {
			h.Groups[i] = wrap.GroupHost{Answer: wrap.Answer{State: wrap.Yes}, Version: 2, Swap: true, Sockets: true}
		}
	}
	return h
}

// listings returns the directories that a tool may put together name by name. A directory of
// the system with many names (/etc, as root) is left out: a mount for each name would make the
// line ten times as long and slow. Its secrets are masked instead, which masked notes.
func (w *wrapper) listings() []wrap.Listing {
	h, r := w.a.Host, w.a.Resolved
	return slices.DeleteFunc(slices.Clone(h.Listing), func(l wrap.Listing) bool {
		holds := func(s wrap.Found) bool { return s.Kind != wrap.Dir && view.Parent(s.Path) == l.Dir }
		aim := func(m spec.MountAt) bool { return view.Within(m.Target, l.Dir) }
		hides := func(p spec.Path) bool { return view.Within(p.Real, l.Dir) || view.Within(p.Abs, l.Dir) }
		return len(l.Entries) > wrap.FewEntries && !view.Within(l.Dir, h.Home) && slices.ContainsFunc(h.Secrets, holds) &&
			!slices.ContainsFunc(r.Mounts, aim) && !slices.ContainsFunc(r.Hide, hides)
	})
}
