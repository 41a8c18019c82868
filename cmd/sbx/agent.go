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

// identify finds out which agent the command is, from its name or because a document says
// so. The name does not count if a sandboxed command may have created the program: an
// agent gets its keys and a network.
func (c *documentSet) identify(docs []*spec.SandboxSpec, cwd string) {
	if c.backed() { // a command that another tool runs is not watched
		return
	}
	c.agent, c.unproven = agent.Identify(c.rest, c.programFile), nil
	if c.agent.Agent != 0 {
		if file := c.forgeable(docs, cwd); file != "" {
			name := c.agent.Agent.String()
			c.unproven = []string{spec.Name(file) + " is not taken for " + name + ", and gets neither its keys nor its network: a command may have put it there",
				"hint: if it is meant, say so in the spec: {\"agent\": \"" + name + "\"}"}
			c.agent = agent.Command{}
		}
	}
	for _, d := range docs {
		switch {
		case !d.Agent.Set:
		case d.Agent.Value == spec.NoAgent:
			c.agent, c.named, c.unproven = agent.Command{}, false, nil
		default:
			byName := c.agent.Agent
			c.unproven = nil
			c.agent = agent.Named(d.Agent.Value, c.rest, c.programFile)
			c.named = c.named || d.Agent.Value != byName
		}
	}
}

// agentPlace returns the directories of the agent's configuration.
func (c *typed) agentPlace(environ []string, home, start string, typed agent.Typed) agent.Place {
	return agent.Place{Home: home, Start: start, Typed: typed, Read: profile.Read, There: sys.Exists,
		Get: func(name string) string { return sys.Variable(environ, name) }}
}

// forgeable returns the first of the files by which the command counts as an agent that a
// sandboxed command may have created or replaced; "" for none.
func (c *documentSet) forgeable(docs []*spec.SandboxSpec, cwd string) string {
	in := c.inputs(cwd)
	in.Job = c.job()
	trees := spec.TreesOf(in, docs...)
	var paths []string
	for _, name := range c.agent.By {
		path := c.programPath(name)
		if strings.Contains(name, "/") && name[0] != '/' && path != "" && !c.installed(path) {
			return path
		}
		paths = append(paths, path)
	}
	for _, name := range c.agent.Near {
		for dir := cwd; dir != ""; dir = dir[:strings.LastIndexByte(dir, '/')] {
			paths = append(paths, dir+"/"+name)
		}
	}
	for _, path := range paths {
		if path != "" && sys.Exists(path) && (trees.Holds(path) || isPublic(path)) {
			return path
		}
	}
	return ""
}

// installed reports whether a program is in a directory for programs: one of PATH or of
// the system, or one to which the agent's name leads from there. Sandboxed commands may
// have written to any other directory, except the current one.
func (c *agentCommand) installed(path string) bool {
	dir, err := spec.Real(path[:strings.LastIndexByte(path, '/')+1], spec.HostPaths{})
	switch {
	case err != nil:
		return false
	case dir == "/", dir == "/opt", strings.HasPrefix(dir, "/opt/"), wrap.Lists().System(dir):
		return true
	}
	for _, on := range strings.Split(sys.Variable(c.environ, "PATH"), ":") {
		if real, err := spec.Real(on, spec.HostPaths{}); err == nil && strings.HasPrefix(on, "/") && real == dir {
			return true
		}
	}
	file := c.programFile(c.agent.Agent.String())
	return file != "" && file == c.programFile(path)
}

// programFile returns the file to which a program's name or path leads.
func (c *typed) programFile(name string) string {
	path := c.programPath(name)
	if path == "" { // Real would take "" for the root
		return ""
	}
	real, err := spec.Real(path, spec.HostPaths{})
	if err != nil {
		return ""
	}
	return real
}

// programPath returns where a program is found by its name or path; "" for nowhere.
func (c *typed) programPath(name string) string {
	dirs := []string{""}
	if !strings.Contains(name, "/") {
		dirs = strings.Split(sys.Variable(c.environ, "PATH"), ":")
	}
	for _, dir := range dirs {
		path := name
		if dir != "" {
			path = dir + "/" + name
		} else if !strings.Contains(name, "/") {
			continue
		}
		if !strings.HasPrefix(path, "/") {
			cwd, err := sys.Getwd()
			if err != nil {
				continue
			}
			path = cwd + "/" + strings.TrimPrefix(path, "./")
		}
		if sys.Exists(path) { // one system call for a directory, not one for each part of its path
			return path
		}
	}
	return ""
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
	if in := c.installedIn(); in != "" {
		needs.Files = append(needs.Files, spec.OwnFile{Path: in, Mode: spec.OwnRead})
	}
	return needs
}

// installedIn returns the directory of the agent's program and its packages; "" if every
// sandbox shows that directory.
func (c *agentCommand) installedIn() string {
	if len(c.rest) == 0 { // wrap can make a wrapper before the command is known
		return ""
	}
	file := c.programFile(c.rest[max(c.agent.At-1, 0)])
	if file == "" || wrap.Lists().System(file) {
		return ""
	}
	const modules = "/node_modules"
	if i := strings.Index(file, modules+"/"); i >= 0 {
		return file[:i+len(modules)]
	}
	return file
}

// instruct adds the flags to the agent's command line by which the agent follows the spec
// itself, and reports what no flag can say.
func (x *execution) instruct() error {
	a := x.agent.Agent
	if a == 0 {
		if !x.has("q") {
			for _, line := range x.unproven {
				x.std.say(line)
			}
		}
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
		if !x.has("q") {
			for _, s := range said {
				x.std.say(s)
			}
		}
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
			ask.Folders = append(ask.Folders, w.Abs)
		}
	}
	if x.agent.Agent == spec.Gemini && (ask.Allowed.Set || len(ask.Denied) > 0) {
		ask.PolicyFile = wrap.PolicyPath
	}
	return ask
}
