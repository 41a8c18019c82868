package spec

import (
	"strconv"

	"sbx/internal/doc"
	"sbx/internal/reach"
)

// The tables of the decoder: one row a field, in the order of the document's
// description. TestFieldsAgree holds them to SandboxSpec, Fields and the schema.

var specFields = []member[SandboxSpec]{
	{"tools_allowed", func(d *decoder, n *Node, s *SandboxSpec) { s.ToolsAllowed = d.strings(n, toolRule) }},
	{"tools_denied", func(d *decoder, n *Node, s *SandboxSpec) { s.ToolsDenied = d.strings(n, toolRule) }},
	{"working_dir", func(d *decoder, n *Node, s *SandboxSpec) { s.WorkingDir = Some(d.string(n, pathRule)) }},
	{"access_mode", func(d *decoder, n *Node, s *SandboxSpec) {
		s.AccessMode = word(d, n, ParseAccessMode, accessModes)
	}},
	{"max_turns", func(d *decoder, n *Node, s *SandboxSpec) { s.MaxTurns = Some(d.whole(n, 0, maxWhole)) }},
	{"max_commands", func(d *decoder, n *Node, s *SandboxSpec) { s.MaxCommands = Some(d.whole(n, 0, maxWhole)) }},
	{"profile", func(d *decoder, n *Node, s *SandboxSpec) { s.Profile = word(d, n, ParseProfile, profiles) }},
	{"sandbox", func(d *decoder, n *Node, s *SandboxSpec) { s.Sandbox = Some(part(d, n, workshopFields)) }},
	{"restrict", func(d *decoder, n *Node, s *SandboxSpec) { s.Restrict = Some(d.string(n, restrictRule)) }},
	{"readonly", func(d *decoder, n *Node, s *SandboxSpec) { s.Readonly = d.bool(n) }},
	{"filesystem", func(d *decoder, n *Node, s *SandboxSpec) { s.Filesystem = Some(part(d, n, filesystemFields)) }},
	{"network", func(d *decoder, n *Node, s *SandboxSpec) { s.Network = Some(part(d, n, networkFields)) }},
	{"environment", func(d *decoder, n *Node, s *SandboxSpec) { s.Environment = Some(part(d, n, environmentFields)) }},
	{"commands", func(d *decoder, n *Node, s *SandboxSpec) { s.Commands = Some(part(d, n, commandsFields)) }},
	{"limits", func(d *decoder, n *Node, s *SandboxSpec) { s.Limits = Some(part(d, n, limitsFields)) }},
	{"syscalls", func(d *decoder, n *Node, s *SandboxSpec) { s.Syscalls = Some(d.string(n, pathRule)) }},
	{"broker", func(d *decoder, n *Node, s *SandboxSpec) { s.Broker = Some(part(d, n, brokerFields)) }},
	{"on_exceed", func(d *decoder, n *Node, s *SandboxSpec) { s.OnExceed = word(d, n, ParseOnExceed, onExceeds) }},
	{"best_effort", func(d *decoder, n *Node, s *SandboxSpec) { s.BestEffort = d.strings(n, bestEffortRule) }},
	{"require_available", func(d *decoder, n *Node, s *SandboxSpec) { s.RequireAvailable = d.bool(n) }},
	{"agent", func(d *decoder, n *Node, s *SandboxSpec) { s.Agent = word(d, n, ParseAgent, agents) }},
}

var workshopFields = []member[Workshop]{
	{"root", func(d *decoder, n *Node, w *Workshop) { w.Root = Some(d.string(n, pathRule)) }},
	{"readonly", func(d *decoder, n *Node, w *Workshop) { w.Readonly = d.bool(n) }},
}

var filesystemFields = []member[Filesystem]{
	{"read", func(d *decoder, n *Node, f *Filesystem) { f.Read = d.strings(n, readRule) }},
	{"write", func(d *decoder, n *Node, f *Filesystem) { f.Write = d.strings(n, writeRule) }},
	{"hide", func(d *decoder, n *Node, f *Filesystem) { f.Hide = d.strings(n, hideRule) }},
	{"mounts", func(d *decoder, n *Node, f *Filesystem) {
		mounts := []Mount{}
		d.each(n, "a list of mounts", func(item *Node) { mounts = append(mounts, d.mount(item, mounts)) })
		f.Mounts = Some(mounts)
	}},
}

var mountFields = []member[Mount]{
	{"label", func(d *decoder, n *Node, m *Mount) { m.Label = d.string(n, textRule) }},
	{"source", func(d *decoder, n *Node, m *Mount) { m.Source = d.string(n, pathRule) }},
	{"target", func(d *decoder, n *Node, m *Mount) { m.Target = d.string(n, targetRule) }},
	{"mode", func(d *decoder, n *Node, m *Mount) { m.Mode = word(d, n, ParseMountMode, mountModes).Value }},
}

var networkFields = []member[Network]{
	{"mode", func(d *decoder, n *Node, w *Network) { w.Mode = word(d, n, ParseNetworkMode, networkModes) }},
	{"allow", func(d *decoder, n *Node, w *Network) { w.Allow = d.strings(n, endpointRule) }},
	{"listen", func(d *decoder, n *Node, w *Network) {
		ports := []reach.Listen{}
		d.each(n, "a list of ports", func(item *Node) { ports = append(ports, d.listen(item, ports)) })
		w.Listen = Some(ports)
	}},
}

var environmentFields = []member[Environment]{
	{"pass", func(d *decoder, n *Node, e *Environment) { e.Pass = d.strings(n, passRule) }},
	{"set", func(d *decoder, n *Node, e *Environment) { e.Set = Some(d.variables(n)) }},
}

var commandsFields = []member[Commands]{
	{"allow", func(d *decoder, n *Node, c *Commands) { c.Allow = d.strings(n, programRule) }},
	{"deny", func(d *decoder, n *Node, c *Commands) { c.Deny = d.strings(n, programRule) }},
}

var limitsFields = []member[Limits]{
	{"memory", func(d *decoder, n *Node, l *Limits) { l.Memory = Some(d.size(n)) }},
	{"cpus", func(d *decoder, n *Node, l *Limits) {
		l.CPUs = Some(d.number(n, minCPUs, maxCPUs, "a number of processors from 0.001 to 1000000"))
	}},
	{"pids", func(d *decoder, n *Node, l *Limits) { l.PIDs = Some(d.whole(n, 1, maxWhole)) }},
	{"open_files", func(d *decoder, n *Node, l *Limits) { l.OpenFiles = Some(d.whole(n, 1, maxWhole)) }},
	{"file_size", func(d *decoder, n *Node, l *Limits) { l.FileSize = Some(d.size(n)) }},
	{"timeout", func(d *decoder, n *Node, l *Limits) { l.Timeout = Some(d.duration(n)) }},
}

var brokerFields = []member[Broker]{
	{"file", func(d *decoder, n *Node, b *Broker) { b.File = Some(d.string(n, pathRule)) }},
	{"plan", func(d *decoder, n *Node, b *Broker) { b.Plan = Some(d.string(n, pathRule)) }},
	{"grant", func(d *decoder, n *Node, b *Broker) { b.Grant = d.strings(n, grantRule) }},
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
