package wrap

import (
	"slices"

	"sbx/internal/doc"
	"sbx/internal/reach"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap/defaults"
)

// ParentPath is where a sandbox with a private /run tells an sbx inside it what
// holds there already. It lies on a read-only mount of its own.
const ParentPath = "/run/sbx/parent.json"

// Parent is what an outer sandbox holds, as far as a nested one must know.
type Parent struct {
	AccessMode spec.AccessMode
	Network    spec.NetworkMode
	Reach      []string       // what may be reached under NetworkAllow
	Narrows    bool           // and its supervisor holds less for those inside that ask for it
	Listen     []reach.Listen // ports of the host that lead inside
	Visible    bool           // only what is named is in view
	Writable   []string       // trees that are writable, private directories not counted
	Read       []string       // what is in view of an empty root, @system not counted
	Hidden     []string
	Secrets    []string // what is hidden by default
	Allowed    []string // protected names that may be written
	Opened     []string // secrets that the spec names, and so shows
	Root       string   // what a worker has of its workshop's root, from which those inside count; "" for none
	// Agent is the agent that the command is, whose own keys are in view.
	Agent spec.Agent

	// What a nested document is compared with, see tellSpec.
	Confined bool     // nothing but Writable and Private may be written
	Dir      string   // where the command started
	System   bool     // @system is in view
	Private  []string // directories that are the sandbox's own
	View     []string // what may be done at which paths, as tellView writes it
	asked    *spec.Node

	// Free: it constrains no files and no network, and an sbx inside makes a sandbox of
	// its own. Only asked and the limits below count then.
	Free bool

	// What the limits of the whole tree hold, of it or one further out; 0 where
	// nothing does.
	Memory, PIDs int64
	CPUs         float64
	SocketsApart bool // Memory holds, but for socketsApart
}

// parentOf is what this Plan's sandbox tells those inside.
func (b *teller) parentOf() *Parent {
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
	b.tellLimits(p)
	b.tellSpec(p)
	return p
}

// tell has the supervisor tell those inside what a free sandbox asks for.
func (b *teller) tell() {
	p := &Parent{Free: true, Network: spec.NetworkHost}
	b.tellLimits(p)
	b.tellAsked(p)
	if len(p.asked.Members) > 0 {
		b.plan.Tells = string(p.AppendJSON(nil))
	}
}

// isSecret reports whether a path is, or lies in, one of the default secrets of
// the system or of any home: a root may open those of others. The command's
// agent has its own in view.
func (b *draft) isSecret(path string) bool { return defaults.IsSecret(path, b.h.Home, b.r.Agent) }

// AppendJSON writes p as ParseParent reads it.
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

// ParseParent reads what an outer sandbox left; ok is false for what this
// version does not understand.
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

// nested is the Plan of an sbx inside another: no namespace can be made there,
// and none is needed where the outer sandbox holds as much as is asked. What is
// narrower is left to Landlock and a filter on top, where they reach; the filter
// is loaded once more in any case: filters add up.
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
		b.view = view.Tree{} // which the outer sandbox's mounts are seen through
	} else if b.plan.Narrow != nil {
		b.apart()
	}
}

// narrower says that field is narrower than what the outer sandbox holds, and
// how far that can be held inside it.
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

// nestedSecrets compares what is hidden by default, and what is protected.
func (b *nesting) nestedSecrets(held *Parent) {
	shows := func(path string) {
		if b.fromOutside("access_mode") { // with another HOME than outside, and nothing asked
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
