package wrap

import (
	"slices"

	"sbx/internal/doc"
	"sbx/internal/reach"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap/defaults"
)

// ParentPath is where a sandbox with a private /run describes itself to an sbx inside. It lies on a
// read-only mount of its own.
const ParentPath = "/run/sbx/parent.json"

// Parent describes what an outer sandbox enforces, as far as a nested one must know.
type Parent struct {
	AccessMode spec.AccessMode
	Network    spec.NetworkMode
	Reach      []string       // the endpoints that may be reached under NetworkAllow
	Narrows    bool           // its supervisor enforces less than Reach for an sbx inside that asks for it
	Listen     []reach.Listen // ports of the host that lead inside
	Visible    bool           // only paths that the spec names are in view
	Writable   []string       // writable trees, without private directories
	Read       []string       // paths in view of an empty root, without @system
	Hidden     []string
	Secrets    []string // paths hidden by default
	Allowed    []string // protected names that may be written
	Opened     []string // secrets that the spec names, which shows them
	Root       string   // the part of its workshop's root that a worker sees, from which an sbx inside counts paths; "" for none
	// Agent is the outer sandbox's agent, whose own keys are in view.
	Agent spec.Agent

	// A nested document is compared with these, see reportSpec.
	Confined bool     // only Writable and Private may be written
	Dir      string   // where the command started
	System   bool     // @system is in view
	Private  []string // directories that are the sandbox's own
	View     []string // the access to each path, as reportView writes it
	asked    *spec.Node

	// Free is true if the outer sandbox constrains neither files nor network, so that an sbx inside
	// makes a sandbox of its own. Then only asked and the limits below apply.
	Free bool

	// These limits hold for the whole tree, enforced by the outer sandbox or one further out; 0
	// means no limit.
	Memory, PIDs int64
	CPUs         float64
	SocketsApart bool // Memory is enforced with the exception that socketsApart explains
}

// parentOf returns what this Plan's sandbox reports to an sbx inside.
func (b *reporter) parentOf() *Parent {
	p := &Parent{AccessMode: b.r.AccessMode, Network: b.r.Network, Visible: b.r.Visible, Confined: b.r.Confined, Agent: b.r.Agent}
	if b.r.ReadOnly && p.AccessMode == spec.WorkspaceWrite {
		p.AccessMode = spec.ReadOnly
	}
	for i := range b.r.Reach {
		p.Reach = append(p.Reach, b.r.Reach[i].Text)
	}
	if b.plan.Publish {
		p.Listen = b.r.Listen
	}
	p.Narrows = p.Network == spec.NetworkAllow && b.plan.Counter == CounterNotify && b.h.Copies.State != No && b.req.NoRelay == ""
	for _, w := range b.writables() {
		p.Writable = append(p.Writable, w.Real)
	}
	if b.r.Job != nil {
		p.Writable = append(p.Writable, "/output", "/work")
	}
	for i := range b.r.Mounts {
		if m := &b.r.Mounts[i]; m.Mode == spec.MountRW {
			p.Writable = append(p.Writable, m.Target)
		}
	}
	for _, r := range b.r.Read {
		p.Read = append(p.Read, r.Real)
	}
	if b.r.Restricted.Real != "" {
		p.Read = append(p.Read, b.r.Restricted.Real)
		p.Root = b.r.Restricted.Real
	}
	for _, h := range b.r.Hide {
		p.Hidden = append(p.Hidden, h.Real)
	}
	for _, s := range b.h.Secrets {
		p.Secrets = append(p.Secrets, s.Real)
	}
	p.Allowed = slices.Concat(b.named, b.r.Globs)
	for _, l := range [][]spec.Path{b.r.Read, b.r.Write} {
		for _, n := range l {
			if n.Field != "" && b.isSecret(n.Abs) {
				p.Opened = append(p.Opened, n.Abs)
			}
		}
	}
	b.reportLimits(p)
	b.reportSpec(p)
	return p
}

// reportFree lets the supervisor report to an sbx inside what the documents request, for a sandbox
// that mounts nothing.
func (b *reporter) reportFree() {
	p := &Parent{Free: true, Network: spec.NetworkHost}
	b.reportLimits(p)
	b.reportRequested(p)
	if len(p.asked.Members) > 0 {
		b.plan.ForNested = string(p.AppendJSON(nil))
	}
}

// isSecret reports whether path is, or lies in, a default secret of the system or of any home: a
// root may open other users' secrets. The command's agent has its own secrets in view.
func (b *draft) isSecret(path string) bool { return defaults.IsSecret(path, b.h.Home, b.r.Agent) }

// AppendJSON appends p in the form that ParseParent reads.
func (p *Parent) AppendJSON(dst []byte) []byte {
	w := &printer{doc.Writer{B: dst}}
	w.Open('{')
	w.KeyInt("version", 1)
	w.KeyText("access_mode", p.AccessMode.String())
	w.KeyText("network", p.Network.String())
	w.KeyTexts("reach", p.Reach)
	w.KeyTexts("listen", p.published())
	w.KeyFlag("narrows", p.Narrows)
	w.KeyFlag("visible", p.Visible)
	w.KeyTexts("writable", p.Writable)
	w.KeyTexts("read", p.Read)
	w.KeyTexts("hidden", p.Hidden)
	w.KeyTexts("secrets", p.Secrets)
	w.KeyTexts("allowed", p.Allowed)
	w.KeyTexts("opened", p.Opened)
	w.KeyText("root", p.Root)
	w.KeyText("agent", p.Agent.String())
	w.KeyFlag("confined", p.Confined)
	w.KeyFlag("free", p.Free)
	p.appendLimits(w)
	w.KeyText("working_dir", p.Dir)
	w.KeyFlag("system", p.System)
	w.KeyTexts("private", p.Private)
	w.KeyTexts("view", p.View)
	if p.asked != nil && len(p.asked.Members) > 0 {
		w.Key("asked")
		w.B = p.asked.AppendJSON(w.B, nil)
	}
	w.Close('}')
	return append(w.B, '\n')
}

// ParseParent reads what an outer sandbox left. ok is false if this version does not understand it.
func ParseParent(n *spec.Node) (p *Parent, ok bool) {
	text := func(key string) string {
		if m := n.Get(key); m != nil {
			return m.Text
		}
		return ""
	}
	texts := func(key string) (all []string) {
		if list := n.Get(key); list != nil {
			for _, item := range list.Items {
				all = append(all, item.Text)
			}
		}
		return all
	}
	is := func(key string) bool { return text(key) == "true" }
	if text("version") != "1" {
		return nil, false
	}
	p = &Parent{
		Network: spec.NetworkHost, Reach: texts("reach"), Narrows: is("narrows"),
		Visible: is("visible"), Writable: texts("writable"), Read: texts("read"), Hidden: texts("hidden"), Secrets: texts("secrets"),
		Allowed: texts("allowed"), Opened: texts("opened"), Root: text("root"), Confined: is("confined"), Dir: text("working_dir"),
		System: is("system"), Private: texts("private"), View: texts("view"), asked: n.Get("asked"), Free: is("free"), SocketsApart: is("sockets_apart"),
	}
	if m := n.Get("access_mode"); m != nil {
		if p.AccessMode, ok = spec.ParseAccessMode(m.Text); !ok {
			return nil, false
		}
	}
	if m := n.Get("network"); m != nil {
		if p.Network, ok = spec.ParseNetworkMode(m.Text); !ok {
			return nil, false
		}
	}
	if m := n.Get("agent"); m != nil {
		if p.Agent, ok = spec.ParseAgent(m.Text); !ok {
			return nil, false
		}
	}
	if p.Listen, ok = parsePublished(texts("listen")); !ok {
		return nil, false
	}
	return p, p.parseLimits(text)
}

// nested makes the Plan of an sbx inside another. No namespace can be made there, and none is
// needed if the outer sandbox enforces as much as the spec requests. Narrower requests are left to
// Landlock and a syscall filter, as far as these reach. The filter is loaded in any case, since
// filters add up.
func (b *nesting) nested() {
	b.plan.Base = BaseHost
	b.plan.KeepCaps = true
	held := b.h.Parent
	b.nestedSecrets(held)
	b.nestedNetwork(held)
	b.nestedListen(held)
	b.plan.Outer = b.outerView(held)
	if b.nestedFiles(held) {
		b.layBare()
		b.landlock()
		b.plan.Outer = b.plan.Outer.Meet(b.view)
		b.view = view.Tree{} // the View describes paths as the host has them, and the outer sandbox's mounts change those
	} else if b.plan.Narrow != nil {
		b.separate()
	}
}

// narrower reports that field requests less access than the outer sandbox grants, and how well that
// can be enforced inside it.
func (b *nesting) narrower(f spec.Field, why string, s Status) {
	switch {
	case s == Degraded && (f == "network" || b.h.LandlockABI > 0):
		why += "; inside a sandbox only Landlock and seccomp can hold more"
		if f != "network" {
			why += ": they leave names and metadata in view, and chmod, chown, times and extended attributes open" + b.oldLandlock()
		}
	default:
		s = Unavailable
	}
	if s == Degraded && b.req.Worker {
		b.worker(f, why)
		return
	}
	b.lack(&spec.Problem{Field: f, On: b.r.At(f), Do: "narrow " + string(f) + " inside another sandbox",
		Why: why, Help: "set it in the outer spec, or list \"" + string(f) + "\" in best_effort"}, s)
}

// nestedSecrets compares the secrets hidden by default and the protected names with the outer
// sandbox's.
func (b *nesting) nestedSecrets(held *Parent) {
	shows := func(path string) {
		if b.fromOutside("access_mode") { // no document here requests it: HOME differs from the outer sandbox's
			b.fault(FieldSecrets, Degraded, "the outer sandbox shows "+path)
			return
		}
		b.fault(FieldSecrets, Unavailable, "the outer sandbox shows "+path)
		b.narrower("access_mode", "the outer sandbox shows "+path, Unavailable)
	}
	for _, s := range b.h.Secrets {
		if s.Agent != 0 && s.Agent == held.Agent && s.Kind != Absent {
			b.fault(FieldSecrets, Degraded, "the outer sandbox shows "+s.Path+", which is its agent's own")
			continue
		}
		own := slices.ContainsFunc(held.Private, func(d string) bool { return under(s.Real, d) }) && !slices.Contains(held.Opened, s.Path)
		if s.Kind != Absent && !own && !slices.ContainsFunc(held.Secrets, func(d string) bool { return under(s.Real, d) }) {
			shows(s.Path)
			break
		}
	}
	for _, path := range held.Opened {
		if !slices.ContainsFunc(append(slices.Clone(b.r.Read), b.r.Write...), func(n spec.Path) bool { return n.Field != "" && under(path, n.Abs) && b.isSecret(n.Abs) }) {
			shows(path)
			break
		}
	}
	for _, a := range held.Allowed {
		if !b.allowed(a) && !slices.Contains(b.r.Globs, a) {
			b.unprotected("the outer sandbox lets " + a + " be written")
		}
	}
	b.fault(FieldProtected, Degraded, "only the names that the outer sandbox protects are protected")
	b.fault(FieldUnmade, Degraded, "the outer sandbox notices and moves away a protected name that is created, it does not deny it")
}
