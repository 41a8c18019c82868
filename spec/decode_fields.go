package spec

import (
	"strconv"

	"sbx/internal/doc"
	"sbx/internal/reach"
)

// The tables of the decoder: one row a field, in the order of the document's
// description. TestFieldsAgree holds them to SandboxSpec, Fields and the schema.

var specFields = []member[SandboxSpec]{
	{"tools_allowed", func(d *decoder, n *Node, s *SandboxSpec) { s.ToolsAllowed = d.strings(n, toolRule) }, func(s *SandboxSpec) *Node { return given(s.ToolsAllowed, doc.Strs) }},
	{"tools_denied", func(d *decoder, n *Node, s *SandboxSpec) { s.ToolsDenied = d.strings(n, toolRule) }, func(s *SandboxSpec) *Node { return given(s.ToolsDenied, doc.Strs) }},
	{"working_dir", func(d *decoder, n *Node, s *SandboxSpec) { s.WorkingDir = Some(d.string(n, pathRule)) }, func(s *SandboxSpec) *Node { return given(s.WorkingDir, doc.Str) }},
	{"access_mode", func(d *decoder, n *Node, s *SandboxSpec) {
		s.AccessMode = word(d, n, ParseAccessMode, accessModes)
	}, func(s *SandboxSpec) *Node { return given(s.AccessMode, wordNode) }},
	{"max_turns", func(d *decoder, n *Node, s *SandboxSpec) { s.MaxTurns = Some(d.whole(n, 0, maxWhole)) }, func(s *SandboxSpec) *Node { return given(s.MaxTurns, intNode[int]) }},
	{"max_commands", func(d *decoder, n *Node, s *SandboxSpec) { s.MaxCommands = Some(d.whole(n, 0, maxWhole)) }, func(s *SandboxSpec) *Node { return given(s.MaxCommands, intNode[int]) }},
	{"profile", func(d *decoder, n *Node, s *SandboxSpec) { s.Profile = word(d, n, ParseProfile, profiles) }, func(s *SandboxSpec) *Node { return given(s.Profile, wordNode) }},
	{"sandbox", func(d *decoder, n *Node, s *SandboxSpec) { s.Sandbox = Some(part(d, n, workshopFields)) }, func(s *SandboxSpec) *Node { return given(s.Sandbox, nodeOf(workshopFields)) }},
	{"restrict", func(d *decoder, n *Node, s *SandboxSpec) { s.Restrict = Some(d.string(n, restrictRule)) }, func(s *SandboxSpec) *Node { return given(s.Restrict, doc.Str) }},
	{"readonly", func(d *decoder, n *Node, s *SandboxSpec) { s.Readonly = d.bool(n) }, func(s *SandboxSpec) *Node { return given(s.Readonly, doc.Truth) }},
	{"filesystem", func(d *decoder, n *Node, s *SandboxSpec) { s.Filesystem = Some(part(d, n, filesystemFields)) }, func(s *SandboxSpec) *Node { return given(s.Filesystem, nodeOf(filesystemFields)) }},
	{"network", func(d *decoder, n *Node, s *SandboxSpec) { s.Network = Some(part(d, n, networkFields)) }, func(s *SandboxSpec) *Node { return given(s.Network, nodeOf(networkFields)) }},
	{"environment", func(d *decoder, n *Node, s *SandboxSpec) { s.Environment = Some(part(d, n, environmentFields)) }, func(s *SandboxSpec) *Node { return given(s.Environment, nodeOf(environmentFields)) }},
	{"commands", func(d *decoder, n *Node, s *SandboxSpec) { s.Commands = Some(part(d, n, commandsFields)) }, func(s *SandboxSpec) *Node { return given(s.Commands, nodeOf(commandsFields)) }},
	{"limits", func(d *decoder, n *Node, s *SandboxSpec) { s.Limits = Some(part(d, n, limitsFields)) }, func(s *SandboxSpec) *Node { return given(s.Limits, nodeOf(limitsFields)) }},
	{"syscalls", func(d *decoder, n *Node, s *SandboxSpec) { s.Syscalls = Some(d.string(n, pathRule)) }, func(s *SandboxSpec) *Node { return given(s.Syscalls, doc.Str) }},
	{"broker", func(d *decoder, n *Node, s *SandboxSpec) { s.Broker = Some(part(d, n, brokerFields)) }, func(s *SandboxSpec) *Node { return given(s.Broker, nodeOf(brokerFields)) }},
	{"on_exceed", func(d *decoder, n *Node, s *SandboxSpec) { s.OnExceed = word(d, n, ParseOnExceed, onExceeds) }, func(s *SandboxSpec) *Node { return given(s.OnExceed, wordNode) }},
	{"best_effort", func(d *decoder, n *Node, s *SandboxSpec) { s.BestEffort = d.strings(n, bestEffortRule) }, func(s *SandboxSpec) *Node { return given(s.BestEffort, doc.Strs) }},
	{"require_available", func(d *decoder, n *Node, s *SandboxSpec) { s.RequireAvailable = d.bool(n) }, func(s *SandboxSpec) *Node { return given(s.RequireAvailable, doc.Truth) }},
	{"agent", func(d *decoder, n *Node, s *SandboxSpec) { s.Agent = word(d, n, ParseAgent, agents) }, func(s *SandboxSpec) *Node { return given(s.Agent, wordNode) }},
}

var workshopFields = []member[Workshop]{
	{"root", func(d *decoder, n *Node, w *Workshop) { w.Root = Some(d.string(n, pathRule)) }, func(w *Workshop) *Node { return given(w.Root, doc.Str) }},
	{"readonly", func(d *decoder, n *Node, w *Workshop) { w.Readonly = d.bool(n) }, func(w *Workshop) *Node { return given(w.Readonly, doc.Truth) }},
}

var filesystemFields = []member[Filesystem]{
	{"read", func(d *decoder, n *Node, f *Filesystem) { f.Read = d.strings(n, readRule) }, func(f *Filesystem) *Node { return given(f.Read, doc.Strs) }},
	{"write", func(d *decoder, n *Node, f *Filesystem) { f.Write = d.strings(n, writeRule) }, func(f *Filesystem) *Node { return given(f.Write, doc.Strs) }},
	{"hide", func(d *decoder, n *Node, f *Filesystem) { f.Hide = d.strings(n, hideRule) }, func(f *Filesystem) *Node { return given(f.Hide, doc.Strs) }},
	{"mounts", func(d *decoder, n *Node, f *Filesystem) {
		mounts := []Mount{}
		d.each(n, "a list of mounts", func(item *Node) { mounts = append(mounts, d.mount(item, mounts)) })
		f.Mounts = Some(mounts)
	}, func(f *Filesystem) *Node {
		return given(f.Mounts, func(all []Mount) *Node { return listNode(all, nodeOf(mountFields)) })
	}},
}

var mountFields = []member[Mount]{
	{"label", func(d *decoder, n *Node, m *Mount) { m.Label = d.string(n, textRule) }, func(m *Mount) *Node { return given(Opt[string]{m.Label, m.Label != ""}, doc.Str) }},
	{"source", func(d *decoder, n *Node, m *Mount) { m.Source = d.string(n, pathRule) }, func(m *Mount) *Node { return given(Opt[string]{m.Source, m.Mode != MountTmpfs}, doc.Str) }},
	{"target", func(d *decoder, n *Node, m *Mount) { m.Target = d.string(n, targetRule) }, func(m *Mount) *Node { return doc.Str(m.Target) }},
	{"mode", func(d *decoder, n *Node, m *Mount) { m.Mode = word(d, n, ParseMountMode, mountModes).Value }, func(m *Mount) *Node { return wordNode(m.Mode) }},
}

var networkFields = []member[Network]{
	{"mode", func(d *decoder, n *Node, w *Network) { w.Mode = word(d, n, ParseNetworkMode, networkModes) }, func(w *Network) *Node { return given(w.Mode, wordNode) }},
	{"allow", func(d *decoder, n *Node, w *Network) { w.Allow = d.strings(n, endpointRule) }, func(w *Network) *Node { return given(w.Allow, doc.Strs) }},
	{"listen", func(d *decoder, n *Node, w *Network) {
		ports := []reach.Listen{}
		d.each(n, "a list of ports", func(item *Node) { ports = append(ports, d.listen(item, ports)) })
		w.Listen = Some(ports)
	}, func(w *Network) *Node {
		return given(w.Listen, func(all []reach.Listen) *Node { return listNode(all, listenNode) })
	}},
}

var environmentFields = []member[Environment]{
	{"pass", func(d *decoder, n *Node, e *Environment) { e.Pass = d.strings(n, passRule) }, func(e *Environment) *Node { return given(e.Pass, doc.Strs) }},
	{"set", func(d *decoder, n *Node, e *Environment) { e.Set = Some(d.variables(n)) }, func(e *Environment) *Node { return given(e.Set, variablesNode) }},
}

var commandsFields = []member[Commands]{
	{"allow", func(d *decoder, n *Node, c *Commands) { c.Allow = d.strings(n, programRule) }, func(c *Commands) *Node { return given(c.Allow, doc.Strs) }},
	{"deny", func(d *decoder, n *Node, c *Commands) { c.Deny = d.strings(n, programRule) }, func(c *Commands) *Node { return given(c.Deny, doc.Strs) }},
}

var limitsFields = []member[Limits]{
	{"memory", func(d *decoder, n *Node, l *Limits) { l.Memory = Some(d.size(n)) }, func(l *Limits) *Node { return given(l.Memory, intNode[Bytes]) }},
	{"cpus", func(d *decoder, n *Node, l *Limits) {
		l.CPUs = Some(d.number(n, minCPUs, maxCPUs, "a number of processors from 0.001 to 1000000"))
	}, func(l *Limits) *Node { return given(l.CPUs, floatNode) }},
	{"pids", func(d *decoder, n *Node, l *Limits) { l.PIDs = Some(d.whole(n, 1, maxWhole)) }, func(l *Limits) *Node { return given(l.PIDs, intNode[int]) }},
	{"open_files", func(d *decoder, n *Node, l *Limits) { l.OpenFiles = Some(d.whole(n, 1, maxWhole)) }, func(l *Limits) *Node { return given(l.OpenFiles, intNode[int]) }},
	{"file_size", func(d *decoder, n *Node, l *Limits) { l.FileSize = Some(d.size(n)) }, func(l *Limits) *Node { return given(l.FileSize, intNode[Bytes]) }},
	{"timeout", func(d *decoder, n *Node, l *Limits) { l.Timeout = Some(d.duration(n)) }, func(l *Limits) *Node { return given(l.Timeout, durationNode) }},
}

var brokerFields = []member[Broker]{
	{"file", func(d *decoder, n *Node, b *Broker) { b.File = Some(d.string(n, pathRule)) }, func(b *Broker) *Node { return given(b.File, doc.Str) }},
	{"plan", func(d *decoder, n *Node, b *Broker) { b.Plan = Some(d.string(n, pathRule)) }, func(b *Broker) *Node { return given(b.Plan, doc.Str) }},
	{"grant", func(d *decoder, n *Node, b *Broker) { b.Grant = d.strings(n, grantRule) }, func(b *Broker) *Node { return given(b.Grant, doc.Strs) }},
}

// part reads an object that is one field of the spec.
func part[T any](d *decoder, n *Node, fields []member[T]) T {
	var t T
	object(d, n, fields, &t)
	return t
}

// mount reads one mount; others are those before it in the list.
func (d *decoder) mount(n *Node, others []Mount) Mount {
	m := part(d, n, mountFields)
	source, target, mode := n.Get("source"), n.Get("target"), n.Get("mode")
	switch {
	case d.err != nil:
	case target == nil:
		d.failMeant(n.Pos, "a mount needs a target", "", `add "target": "/path/inside"`)
	case mode == nil:
		d.failMeant(n.Pos, "a mount needs a mode", "", "one of ro, rw, tmpfs")
	case m.Mode == MountTmpfs && source != nil:
		d.path = doc.Join(d.path, "source")
		d.fail(source.Pos, "a tmpfs has no source")
	case m.Mode != MountTmpfs && source == nil:
		d.failMeant(n.Pos, "a mount needs a source", "", "only a tmpfs has none")
	}
	for _, other := range others {
		if d.err == nil && clean(other.Target) == clean(m.Target) {
			d.path = doc.Join(d.path, "target")
			d.fail(target.Pos, "two mounts on "+odd(clean(m.Target)))
		}
	}
	return m
}

// listen reads one port of network.listen; others are those before it in the list.
func (d *decoder) listen(n *Node, others []reach.Listen) reach.Listen {
	var l reach.Listen
	if n.Kind == String {
		var err *reach.Error
		if l, err = reach.ParseListen(n.Text); err != nil {
			d.failMeant(n.Pos, err.Why, err.Meant, err.Help)
		}
	} else {
		l = reach.ListenAt(d.whole(n, 1, 65535))
	}
	for _, other := range others {
		if d.err == nil && l.Takes(other) {
			d.fail(n.Pos, "the port "+strconv.Itoa(l.Host)+" is there twice")
		}
	}
	return l
}

func (d *decoder) variables(n *Node) map[string]string {
	set := make(map[string]string, len(n.Members))
	d.named(n, "an object of names and strings", variableRule, func(m *Member) { set[m.Key] = d.string(m.Value, textRule) })
	return set
}

// acrossFields checks what no field can see alone.
func (d *decoder) acrossFields(root *Node) {
	if d.err != nil {
		return
	}
	network := root.Get("network")
	if allow, mode := network.Get("allow"), network.Get("mode"); allow != nil && mode != nil && mode.Text != "allow" {
		d.path = "network.allow"
		d.failMeant(allow.Pos, "network.mode is "+mode.Text+", so nothing can be allowed", "",
			`write "mode": "allow", or leave network.allow out`)
	}
	if sandbox := root.Get("sandbox"); sandbox != nil && sandbox.Get("root") == nil {
		d.path = "sandbox"
		d.failMeant(sandbox.Pos, "a sandbox needs a root", "", `add "root": "."`)
	}
}
