package spec

import (
	"slices"

	"sbx/internal/reach"
)

// AgentNeeds is what a known agent needs of its own to work at all. The caller
// finds it out (package agent); under an access_mode that guards, Resolve opens
// it, and nothing more.
type AgentNeeds struct {
	Agent Agent
	// Named tells that documents alone say so, not the command: then it is that
	// agent only for a document that does.
	Named bool
	// Workshop tells that in a workshop it reaches no more than Hosts either, where no
	// document has an access mode.
	Workshop bool
	// Hosts are the items of network.allow without which it does not reach its model; get
	// reads the environment that it gets. nil for none.
	Hosts func(get func(name string) string) []string
	// Pass are its own key and base-URL variables, which look like credentials.
	Pass []string
	// Files are the paths of its state and settings that exist, and locked ones
	// that need not.
	Files []OwnFile
}

// OwnFile is a path that an agent needs: its own, which no document names.
type OwnFile struct {
	Path string // absolute
	Mode OwnMode
}

// OwnMode is what an agent does with a path of its own.
type OwnMode uint8

// The modes. A locked path lies in a written one and may only be read: what
// stands there makes the host run something later. A private one is a directory
// that each sandbox has its own of: sessions on the host run what stands there.
const (
	OwnRead OwnMode = iota + 1
	OwnWrite
	OwnLocked
	OwnPrivate
)

// OwnPath is an OwnFile with its links resolved.
type OwnPath struct {
	Path
	Mode OwnMode
}

// agent opens what the command's agent needs. A document that says agent: none
// has none.
func (r *resolver) agent() {
	need := r.in.Agent
	if need == nil || need.Agent == NoAgent || r.spec.Agent.Or(need.Agent) != need.Agent || need.Named && !r.spec.Agent.Set {
		return
	}
	r.out.Agent = need.Agent
	if r.out.Job != nil || !r.out.AccessMode.Guards() && (r.out.Root.Abs == "" || !need.Workshop) {
		return
	}
	r.need = need
	if !r.out.AccessMode.Guards() {
		return
	}
	r.out.HomeLayer = r.in.Home != ""
	for _, f := range need.Files {
		p, err := resolvePath(r.in.Paths, f.Path)
		if err != nil || !p.Exists && f.Mode != OwnLocked {
			continue
		}
		p.Asked = f.Path
		r.out.Own = append(r.out.Own, OwnPath{Path: p, Mode: f.Mode})
	}
}

// passesOwn tells whether a variable is one of the agent's own.
func (n *AgentNeeds) passesOwn(name string) bool { return n != nil && slices.Contains(n.Pass, name) }

// agentReach is what an agent reaches where no document says anything of its network.
func (r *resolver) agentReach() {
	if !r.out.AgentNetwork || r.need.Hosts == nil {
		return
	}
	cause := "agent: " + r.need.Agent.String()
	for _, item := range r.need.Hosts(r.out.passedValue) {
		if rules, err := reach.Expand(item, cause); err == nil {
			r.out.Reach = append(r.out.Reach, rules...)
		}
	}
}
