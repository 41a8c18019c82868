package wrap

import (
	"slices"
	"strings"

	"sbx/spec"
)

// AgentSeen is what the caller of Build found out of the command's agent.
type AgentSeen struct {
	Agent  spec.Agent
	Stream bool // its JSON stream is read
	Turns  bool // its turns can be told while it runs
	// Lacking are tools that its command line cannot withhold or grant.
	Lacking []AgentLack
	Said    []string // what was changed of the caller's own flags, a sentence each
	Opened  []string // its own variables that are passed
	Starts  string   // how many programs it starts of its own, in words
	Servers []string // what of its own MCP servers is withheld, and by which flag
	Policy  string   // the text of a file of rules for it, at PolicyPath
	// Settings stand, inside, in the place of its own, which are at SettingsAt.
	Settings, SettingsAt string

	// Replaced tells that sbx's sandbox stands in the place of the agent's own, and
	// NoNetwork which of the caller's arguments have that keep the agent's commands
	// from the network; "" for none.
	Replaced  bool
	NoNetwork string
	// Looser is what of the rest that the agent's own sandbox would hold this one does
	// not; "" for nothing.
	Looser string
}

// AgentLack is a tool, in Claude's words, and why the agent cannot be kept to it.
type AgentLack struct {
	Tool, Why string
	Missing   bool // the agent may use it and does not have it
}

// PolicyPath is where an agent's own file of rules stands inside.
const PolicyPath = "/run/sbx/policy.toml"

// settingsPath is where an agent's settings are made, inside.
const settingsPath = "/run/sbx/settings.json"

// agent writes the lines of what only the agent and its stream can hold: its
// tools and its turns.
func (b *agents) agent() {
	a := &b.req.Agent
	for _, f := range []spec.Field{"tools_allowed", "tools_denied", "max_turns"} {
		if !b.set(f) || b.fromOutside(f) {
			continue // an outer sbx watches its agent, whatever that runs
		}
		if b.req.NoCommand && !a.Stream {
			b.fault(f, Observed, "holds where the command is an agent that sbx knows and writes its JSON stream; none is given here")
			continue
		}
		why, help := "", ""
		switch {
		case a.Agent == 0:
			why, help = "sbx does not recognise this command as an agent", `set "agent" to claude, codex or gemini`
		case !a.Stream:
			why, help = a.Agent.String()+" writes no JSON stream on stdout that could be read", "give it its stream's flag: "+streamFlags(a.Agent)
		case f == "max_turns" && !a.Turns:
			why, help = b.turnsUnseen()
		}
		if why != "" {
			held := Unavailable
			if a.Agent != 0 && f != "max_turns" {
				held = Degraded
				why += "; it keeps to them by its own flags, unseen"
			}
			b.unwatched(f, why, help, held)
			continue
		}
		if f == "max_turns" {
			if b.r.Spec.OnExceed.Or(spec.Deny) == spec.RecordOnly {
				b.fault(f, Observed, "on_exceed is record: turns are counted and nothing is ended")
			}
			continue
		}
		b.fault(f, Observed, a.Agent.String()+" keeps to them by its own flags; its stream is watched, and a tool outside of them is a violation")
	}
	for _, l := range a.Lacking {
		f := spec.Field("tools_allowed")
		if !b.set(f) {
			f = "tools_denied"
		}
		held := Unavailable
		if l.Missing {
			held = Enforced
		}
		b.unwatched(f, l.Tool+": "+l.Why, "leave the tool out", held)
	}
	b.insteadOf()
}

// insteadOf tells what the agent's own sandbox, in whose place this one stands, would
// hold and this one does not: the agent and its commands have one network.
func (b *agents) insteadOf() {
	a := &b.req.Agent
	if a.Looser != "" {
		b.fault("agent", Degraded, a.Looser)
	}
	if !a.Replaced || b.r.Network == spec.NetworkNone {
		return
	}
	name := a.Agent.String()
	why := name + "'s own sandbox, which cannot start inside this one, is off: the commands of its model have the network that " + name + " has"
	if a.NoNetwork == "" {
		b.fault("agent", Degraded, why)
		return
	}
	why += ", where " + a.NoNetwork + " keeps them from it"
	b.fault("agent", Degraded, why)
	if b.r.AgentNetwork {
		b.lack(&spec.Problem{Field: "network", On: a.NoNetwork, Do: "keep the commands of " + name + "'s model from the network", Why: why,
			Help: `to let them have it, leave the option out, say network.allow or network.mode: host in the spec, or list "network" in best_effort`}, Degraded)
	}
}

// turnsUnseen says why the file in which the agent's turns stand cannot be read.
func (b *agents) turnsUnseen() (why, help string) {
	name := b.req.Agent.Agent.String()
	if b.r.HomeLayer && !slices.ContainsFunc(b.r.Own, func(o spec.OwnPath) bool { return o.Mode == spec.OwnWrite }) {
		return name + "'s turns stand in a file of its state directory, which is not there: what comes of it inside is the sandbox's own",
			"make that directory, or let " + name + " run once without sbx"
	}
	return name + "'s turns stand in a file that is not in view", "let its state directory be"
}

// unwatched says that nobody holds field: a refusal, but where a profile asks,
// whose promise the kernel keeps without it.
func (b *agents) unwatched(f spec.Field, why, help string, s Status) {
	if strings.HasPrefix(b.r.At(f), "profile ") {
		b.fault(f, s, why)
		return
	}
	b.lack(&spec.Problem{Field: f, On: b.r.At(f), Do: "hold " + string(f), Why: why, Help: help + `, or list "` + string(f) + `" in best_effort`}, s)
}

func streamFlags(a spec.Agent) string {
	return map[spec.Agent]string{spec.Claude: "-p --output-format stream-json --verbose", spec.Codex: "exec --json", spec.Gemini: "-p --output-format stream-json"}[a]
}

// nearOwn is a budget that an agent's own programs could use up.
const nearOwn = 150

// agentLines note what was opened and changed for the agent.
func (b *fieldLines) agentLines() {
	a := &b.req.Agent
	if a.Agent == 0 {
		return
	}
	b.line("agent", a.Agent.String()+"'s name and flags")
	b.plan.Agent.Layer = b.home != 0
	for i := range b.r.Own {
		if o := &b.r.Own[i]; o.Exists && o.Mode == spec.OwnWrite && b.opensOwn(o.Abs) && !b.isHidden(o.Real) {
			b.plan.Agent.Writes = append(b.plan.Agent.Writes, o.Asked)
		}
	}
	if len(a.Opened) > 0 {
		b.note("agent", a.Agent.String()+" gets its own "+strings.Join(a.Opened, ", "))
	}
	if n := b.r.Spec.MaxCommands; n.Set && n.Value < nearOwn && a.Starts != "" {
		b.note("max_commands", a.Agent.String()+" starts "+a.Starts+" programs of its own in a small task, and they count")
	}
	for _, s := range a.Servers {
		b.note("agent", a.Agent.String()+"'s flags: "+s)
	}
	for _, s := range a.Said {
		b.note("agent", s)
	}
}
