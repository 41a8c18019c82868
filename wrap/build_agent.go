package wrap

import (
	"slices"
	"strings"

	"sbx/spec"
)

// AgentSeen is what the caller of Build found out about the command's agent.
type AgentSeen struct {
	Agent  spec.Agent
	Stream bool // sbx reads its JSON stream
	Turns  bool // sbx can count its turns while it runs
	// Lacking lists tools that the agent's command line cannot withhold or grant.
	Lacking []AgentLack
	Said    []string // the changes to the caller's own flags, a sentence each
	Opened  []string // the agent's own variables that are passed
	Starts  string   // how many programs the agent starts on its own, in words
	Servers []string // which of the agent's own MCP servers are withheld, and by which flag
	Policy  string   // the text of a policy file for the agent, at PolicyPath
	// Settings is the text that, inside, replaces the agent's own settings file at SettingsAt.
	Settings, SettingsAt string

	// Replaced is true if sbx's sandbox replaces the agent's own sandbox. NoNetwork names the
	// caller's arguments by which the agent's own sandbox would keep the agent's commands from the
	// network; "" for none.
	Replaced  bool
	NoNetwork string
	// Looser says what else the agent's own sandbox would enforce and this one does not; "" for
	// nothing.
	Looser string
}

// AgentLack is a tool, as Claude calls it, and why the agent cannot be restricted to it.
type AgentLack struct {
	Tool, Why string
	Missing   bool // the spec allows the tool, but the agent does not have it
}

// PolicyPath is where the command finds its agent's policy file.
const PolicyPath = "/run/sbx/policy.toml"

// settingsPath is where sbx writes an agent's settings inside.
const settingsPath = "/run/sbx/settings.json"

// agent writes the Enforcement of the fields that only the agent and its stream can enforce: its
// tools and its turns.
func (b *agents) agent() {
	a := &b.req.Agent
	for _, f := range []spec.Field{"tools_allowed", "tools_denied", "max_turns"} {
		if !b.set(f) || b.fromOutside(f) {
			continue // an outer sbx watches its agent, whatever programs the agent runs
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

// insteadOf reports what the agent's own sandbox, which this one replaces, would enforce and this
// one does not. In sbx's sandbox the agent and its commands share one network.
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

// turnsUnseen says why sbx cannot read the file in which the agent notes its turns.
func (b *agents) turnsUnseen() (why, help string) {
	name := b.req.Agent.Agent.String()
	if b.r.HomeLayer && !slices.ContainsFunc(b.r.Own, func(o spec.OwnPath) bool { return o.Mode == spec.OwnWrite }) {
		return name + "'s turns stand in a file of its state directory, which is not there: what comes of it inside is the sandbox's own",
			"make that directory, or let " + name + " run once without sbx"
	}
	return name + "'s turns stand in a file that is not in view", "let its state directory be"
}

// unwatched reports that nothing enforces field. It is a refusal, unless a profile set the field:
// the kernel enforces the rest of the profile without it.
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

// nearOwn is a number of commands so small that an agent's own programs could use it up.
const nearOwn = 150

// agentLines notes what was opened and changed for the agent.
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
