package main

import (
	"strings"

	"sbx/internal/run"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/spec/agent"
	"sbx/spec/profile"
	"sbx/wrap"
)

// identify finds out which agent the command is.
func (c *documentSet) identify(docs []*spec.SandboxSpec, in spec.Inputs) {
	if !c.backed() { // a command that another tool runs is not watched
		c.agent, c.named, c.unproven = run.Identify(c.rest, docs, in)
	}
}

// agentPlace returns the directories of the agent's configuration.
func (c *commandLine) agentPlace(environ []string, home, start string, typed agent.Typed) agent.Place {
	return agent.Place{Home: home, Start: start, Typed: typed, Read: profile.Read, There: sys.Exists,
		Get: func(name string) string { return sys.Variable(environ, name) }}
}

// agentNeeds returns what the command's agent needs; nil if the command is not a known
// agent.
func (c *agentCommand) agentNeeds(cwd string) *spec.AgentNeeds {
	if c.agent.Agent == 0 {
		return nil
	}
	needs := agent.Needs(c.agent.Agent, c.home(), func(name string) string { return sys.Variable(c.environ, name) }, spec.HostPaths{})
	needs.Named = c.named
	needs.Hosts = func(get func(name string) string) []string {
		at := c.agentPlace(c.environ, c.home(), cwd, agent.ReadArgs(c.agent.Agent, c.agent.Args(c.rest)))
		at.Get = get
		return agent.Hosts(c.agent.Agent, at)
	}
	if len(c.rest) > 0 { // wrap can make a wrapper before the command is known
		if in := run.InstalledIn(c.rest[max(c.agent.At-1, 0)], c.environ); in != "" {
			needs.Files = append(needs.Files, spec.OwnFile{Path: in, Mode: spec.OwnRead})
		}
	}
	return needs
}

// instruct adds the flags to the agent's command line by which the agent follows the spec
// itself, and reports what no flag can say.
func (x *execution) instruct() error {
	a := x.agent.Agent
	if a == 0 {
		x.note(x.unproven...)
		return nil
	}
	r := x.Resolved
	seen := &x.Seen
	own := x.agent.Args(x.rest)
	typed := agent.ReadArgs(a, own).WithFiles(x.fromStart)
	ask := typed.Under(a, x.agentAsk())
	if ask.Allowed.Set || len(ask.Denied) > 0 {
		ask.Servers = x.findServers(typed)
	}
	if wider := agent.Escalations(a, typed, ask); len(wider) > 0 {
		return wider
	}
	flags, kept, lacking := agent.Flags(a, ask)
	for _, k := range kept {
		if k.Servers {
			seen.Servers = append(seen.Servers, k.Line+" ("+k.How+")")
		}
	}
	for _, l := range lacking {
		seen.Lacking = append(seen.Lacking, wrap.AgentLack(l))
	}
	seen.Agent, seen.Starts = a, agent.Starts(a)
	if ask.PolicyFile != "" {
		seen.Policy = agent.Policy(a, ask)
	}
	text, at, why := agent.Settings(a, ask, x.agentPlace(r.Env, x.home(), r.Start(), typed))
	if seen.Settings, seen.SettingsAt = text, at; why != "" {
		x.std.say(a.String() + " has none of the broker's tools: " + why)
	}
	seen.Stream = typed.Stream && !sys.IsTerminal(x.std.out)
	seen.Turns = a != spec.Codex || run.RolloutDir(x.Resolved) != ""
	if !r.Spec.Environment.Value.Pass.Set && r.AccessMode.Guards() {
		seen.Opened = r.LookCredential()
	}
	args, said := agent.Rewrite(a, own, flags)
	seen.Said = said
	if own := x.confined; own.NoNetwork {
		seen.Replaced, seen.NoNetwork = true, own.By
	} else {
		seen.Replaced = ask.Inside && agent.Replaces(a) && own.By == "" && typed.Bypass == ""
	}
	if x.confined.NoGit {
		seen.Looser = x.confined.By + " keeps .git from being written, of which its protected names alone are kept here"
	}
	if len(flags) > 0 || len(said) > 0 {
		x.Typed = x.rest
		x.rest = append(append([]string{}, x.rest[:x.agent.At]...), args...)
		x.Argv = x.rest
		x.verbose(a.String() + " gets " + strings.Join(flags, " "))
		x.note(said...)
	}
	return nil
}

// fromStart returns the content of a regular file that the command names; a pipe is left
// for the command, since it can be read once.
func (x *execution) fromStart(path string) []byte {
	if !strings.HasPrefix(path, "/") {
		path = x.Resolved.Start() + "/" + path
	}
	return []byte(sys.ReadFile(path, 1<<20))
}

// agentAsk returns what the spec requires of the agent's command line.
func (x *execution) agentAsk() agent.Ask {
	r := x.Resolved
	ask := agent.Ask{Allowed: r.Spec.ToolsAllowed, Denied: r.Spec.ToolsDenied.Value, Mode: x.mode, Broker: run.BrokerOf(r)}
	if !r.AccessMode.Guards() {
		return ask
	}
	ask.Access, ask.Inside = r.AccessMode, true
	if r.ReadOnly {
		ask.Access = spec.ReadOnly
	}
	for _, w := range r.Write {
		if w.Field == "" || w.Field == "working_dir" {
			continue
		}
		ask.Writes = append(ask.Writes, w.Abs)
		if w.IsDir && w.InWrite() {
			ask.Dirs = append(ask.Dirs, w.Abs)
		}
	}
	if x.agent.Agent == spec.Gemini && (ask.Allowed.Set || len(ask.Denied) > 0) {
		ask.PolicyFile = wrap.PolicyPath
	}
	return ask
}

// confine finds the restrictions that the caller's flags put on the agent's own sandbox,
// which sbx replaces, and returns them as a document that narrows the others; nil for
// none.
func (c *agentCommand) confine(r *spec.Resolved, inside bool) *spec.SandboxSpec {
	a := c.agent.Agent
	if a == 0 || !r.AccessMode.Guards() {
		return nil
	}
	c.confined = agent.ConfinedBy(a, c.agentPlace(c.environ, c.home(), r.Start(), agent.ReadArgs(a, c.agent.Args(c.rest))))
	own := &spec.SandboxSpec{Source: spec.Source{Name: a.String() + " " + c.confined.By, Dir: r.Start(), Kind: spec.AgentOptions}}
	git := r.WorkingDir.Abs + "/.git"
	switch {
	case c.confined.ReadOnly:
		own.Readonly = spec.Some(true)
	case !c.confined.NoGit:
		return nil
	case r.ReadOnly, !sys.Exists(git): // if it does not exist, it cannot be created either
		c.confined.NoGit = false
		return nil
	case inside || r.Root.Abs != "" || r.Job != nil || r.Spec.Filesystem.Value.Mounts.Set: // where no further mount is possible
		return nil
	default:
		own.Filesystem = spec.Some(spec.Filesystem{Mounts: spec.Some([]spec.Mount{{Label: "git", Source: git, Target: git, Mode: spec.MountRO}})})
		c.confined.NoGit = false
	}
	return own
}

// findServers returns the MCP servers in the agent's own configuration, as the agent will
// find it with the environment inside and the changes of an env command in front of it.
func (x *execution) findServers(typed agent.Typed) *agent.Servers {
	environ := x.Resolved.Env
front:
	for _, word := range x.rest[:x.agent.At] {
		switch name := word[strings.LastIndexByte(word, '/')+1:]; {
		case strings.HasPrefix(word, "-"):
			return &agent.Servers{Unsure: "env " + word + " in front of it may change what it reads"}
		case strings.Contains(word, "="):
			environ = append([]string{word}, environ...)
		case name != "env":
			break front // the arguments from here on are not env's
		}
	}
	home := sys.Variable(environ, "HOME")
	if !strings.HasPrefix(home, "/") {
		home = x.home()
	}
	return agent.FindServers(x.agent.Agent, x.agentPlace(environ, home, x.Resolved.Start(), typed))
}

// serversAt returns the same for flags that are printed, for a start in dir.
func (p *profiles) serversAt(dir string) *agent.Servers {
	if dir == "" {
		dir = p.env.In.Cwd
	}
	return agent.FindServers(p.agent, agent.Place{Home: p.home(), Start: dir,
		Get:  func(name string) string { return sys.Variable(p.environ, name) },
		Read: profile.Read, There: sys.Exists})
}
