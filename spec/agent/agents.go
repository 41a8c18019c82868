package agent

import (
	"slices"

	"sbx/spec"
)

var adapters = []*adapter{&claude, &codex, &gemini}

// find returns the adapter of an agent; an empty one if the agent is unknown.
func find(a spec.Agent) *adapter {
	for _, ad := range adapters {
		if ad.agent == a {
			return ad
		}
	}
	return &adapter{}
}

// Starts says, in words, how many programs an agent itself starts during a small task; "" if
// the agent is unknown.
func Starts(a spec.Agent) string { return find(a).starts }

// Aside returns the file names of an agent's programs whose connections do not go to its model.
func Aside(a spec.Agent) []string { return slices.Clone(find(a).aside) }

// Replaces reports whether sbx's sandbox takes the place of the agent's own sandbox.
func Replaces(a spec.Agent) bool { return find(a).replaced }

// Flags returns the arguments to put right after an agent's program name so that it does as
// asked, the promises that they keep, and what they cannot do. All are empty for an unknown
// agent.
func Flags(a spec.Agent, ask Ask) (args []string, kept []Kept, lacking []Lack) {
	ad := find(a)
	if ad.flags == nil {
		return nil, nil, nil
	}
	ask, unknown := ask.withBroker().spelled(a)
	w := answer{agent: a, ask: ask, lacking: unknown}
	ad.flags(&w, ask)
	return w.args, w.kept, w.lacking
}

// Bypass returns the flags that turn an agent's permission checks off.
func Bypass(a spec.Agent) []string { return slices.Clone(find(a).bypass) }

// Policy returns the content of the file that Ask.PolicyFile names; "" for an agent that has no
// such file.
func Policy(a spec.Agent, ask Ask) string {
	ask, _ = ask.withBroker().spelled(a)
	if ad := find(a); ad.policy != nil && (ask.Allowed.Set || len(ask.Denied) > 0) {
		return ad.policy(ask)
	}
	return ""
}
