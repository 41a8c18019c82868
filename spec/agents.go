package spec

import (
	"slices"

	"sbx/internal/reach"
)

// AgentNeeds lists the files, hosts and variables without which a known agent does not work.
// The caller determines them (package agent); under a restrictive access_mode Resolve allows
// these and nothing more.
type AgentNeeds struct {
	Agent Agent
	// Named says that the agent was recognised from a document, not from the command: the needs
	// then apply only to documents that name the agent.
	Named bool
	// Workshop says that Hosts also limit the network in a workshop whose documents have no access
	// mode.
	Workshop bool
	// Hosts returns the items of network.allow that the agent needs to reach its model; get
	// reads a variable of the agent's environment. nil for none.
	Hosts func(get func(name string) string) []string
	// Pass are its own key and base-URL variables, which look like credentials.
	Pass []string
	// Files are the paths of its state and settings: existing ones, and locked ones that may not
	// exist.
	Files []OwnFile
}

// OwnFile is a path of the agent's own state or settings, which no document names.
type OwnFile struct {
	Path string // absolute
	Mode OwnMode
}

// OwnMode is the access that an agent has to an OwnFile.
type OwnMode uint8

// The modes. A locked path lies in a writable one but is read-only, since its contents could
// run code on the host later. A private one is a directory of which each sandbox has its own,
// since sessions on the host run its contents.
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

// agent allows what the command's agent needs, unless the document says agent: none.
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

// passesOwn reports whether the variable name is one of Pass.
func (n *AgentNeeds) passesOwn(name string) bool { return n != nil && slices.Contains(n.Pass, name) }

// agentReach adds the agent's Hosts to Reach if no document sets the network.
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
