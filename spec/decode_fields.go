package spec

import (
	"strconv"

	"sbx/internal/doc"
	"sbx/internal/doc/decode"
	"sbx/internal/reach"
)

// The tables of the decoder have a row for each field, in the order of the documentation.
// TestFieldsAgree compares the rows with SandboxSpec, Fields and the schema.

var specFields = []member[SandboxSpec]{
	{Name: "tools_allowed", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.ToolsAllowed = Some(d.Strings(n, ToolRule)) }, Node: func(s *SandboxSpec) *Node { return given(s.ToolsAllowed, doc.Strs) }},
	{Name: "tools_denied", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.ToolsDenied = Some(d.Strings(n, ToolRule)) }, Node: func(s *SandboxSpec) *Node { return given(s.ToolsDenied, doc.Strs) }},
	{Name: "working_dir", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.WorkingDir = Some(d.String(n, PathRule)) }, Node: func(s *SandboxSpec) *Node { return given(s.WorkingDir, doc.Str) }},
	{Name: "access_mode", Read: func(d *decoder, n *Node, s *SandboxSpec) {
		s.AccessMode = Some(decode.Word(d, n, ParseAccessMode, accessModes))
	}, Node: func(s *SandboxSpec) *Node { return given(s.AccessMode, wordNode) }},
	{Name: "max_turns", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.MaxTurns = Some(d.Whole(n, 0, decode.MaxWhole)) }, Node: func(s *SandboxSpec) *Node { return given(s.MaxTurns, intNode[int]) }},
	{Name: "max_commands", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.MaxCommands = Some(d.Whole(n, 0, decode.MaxWhole)) }, Node: func(s *SandboxSpec) *Node { return given(s.MaxCommands, intNode[int]) }},
	{Name: "profile", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.Profile = Some(decode.Word(d, n, ParseProfile, profiles)) }, Node: func(s *SandboxSpec) *Node { return given(s.Profile, wordNode) }},
	{Name: "sandbox", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.Sandbox = Some(decode.Part(d, n, workshopFields)) }, Node: func(s *SandboxSpec) *Node { return given(s.Sandbox, nodeOf(workshopFields)) }},
	{Name: "restrict", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.Restrict = Some(d.String(n, RestrictRule)) }, Node: func(s *SandboxSpec) *Node { return given(s.Restrict, doc.Str) }},
	{Name: "readonly", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.Readonly = Some(d.Bool(n)) }, Node: func(s *SandboxSpec) *Node { return given(s.Readonly, doc.Truth) }},
	{Name: "filesystem", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.Filesystem = Some(decode.Part(d, n, filesystemFields)) }, Node: func(s *SandboxSpec) *Node { return given(s.Filesystem, nodeOf(filesystemFields)) }},
	{Name: "network", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.Network = Some(decode.Part(d, n, networkFields)) }, Node: func(s *SandboxSpec) *Node { return given(s.Network, nodeOf(networkFields)) }},
	{Name: "environment", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.Environment = Some(decode.Part(d, n, environmentFields)) }, Node: func(s *SandboxSpec) *Node { return given(s.Environment, nodeOf(environmentFields)) }},
	{Name: "commands", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.Commands = Some(decode.Part(d, n, commandsFields)) }, Node: func(s *SandboxSpec) *Node { return given(s.Commands, nodeOf(commandsFields)) }},
	{Name: "limits", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.Limits = Some(decode.Part(d, n, limitsFields)) }, Node: func(s *SandboxSpec) *Node { return given(s.Limits, nodeOf(limitsFields)) }},
	{Name: "syscalls", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.Syscalls = Some(d.String(n, PathRule)) }, Node: func(s *SandboxSpec) *Node { return given(s.Syscalls, doc.Str) }},
	{Name: "broker", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.Broker = Some(decode.Part(d, n, brokerFields)) }, Node: func(s *SandboxSpec) *Node { return given(s.Broker, nodeOf(brokerFields)) }},
	{Name: "on_exceed", Read: func(d *decoder, n *Node, s *SandboxSpec) {
		s.OnExceed = Some(decode.Word(d, n, ParseOnExceed, onExceeds))
	}, Node: func(s *SandboxSpec) *Node { return given(s.OnExceed, wordNode) }},
	{Name: "best_effort", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.BestEffort = Some(d.Strings(n, bestEffortRule)) }, Node: func(s *SandboxSpec) *Node { return given(s.BestEffort, doc.Strs) }},
	{Name: "require_available", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.RequireAvailable = Some(d.Bool(n)) }, Node: func(s *SandboxSpec) *Node { return given(s.RequireAvailable, doc.Truth) }},
	{Name: "agent", Read: func(d *decoder, n *Node, s *SandboxSpec) { s.Agent = Some(decode.Word(d, n, ParseAgent, agents)) }, Node: func(s *SandboxSpec) *Node { return given(s.Agent, wordNode) }},
}

var workshopFields = []member[Workshop]{
	{Name: "root", Read: func(d *decoder, n *Node, w *Workshop) { w.Root = Some(d.String(n, PathRule)) }, Node: func(w *Workshop) *Node { return given(w.Root, doc.Str) }},
	{Name: "readonly", Read: func(d *decoder, n *Node, w *Workshop) { w.Readonly = Some(d.Bool(n)) }, Node: func(w *Workshop) *Node { return given(w.Readonly, doc.Truth) }},
}

var filesystemFields = []member[Filesystem]{
	{Name: "read", Read: func(d *decoder, n *Node, f *Filesystem) { f.Read = Some(d.Strings(n, readRule)) }, Node: func(f *Filesystem) *Node { return given(f.Read, doc.Strs) }},
	{Name: "write", Read: func(d *decoder, n *Node, f *Filesystem) { f.Write = Some(d.Strings(n, writeRule)) }, Node: func(f *Filesystem) *Node { return given(f.Write, doc.Strs) }},
	{Name: "hide", Read: func(d *decoder, n *Node, f *Filesystem) { f.Hide = Some(d.Strings(n, hideRule)) }, Node: func(f *Filesystem) *Node { return given(f.Hide, doc.Strs) }},
	{Name: "mounts", Read: func(d *decoder, n *Node, f *Filesystem) {
		mounts, targets := []Mount{}, map[string]bool{}
		d.Each(n, "a list of mounts", func(item *Node) { mounts = append(mounts, readMount(d, item, targets)) })
		f.Mounts = Some(mounts)
	}, Node: func(f *Filesystem) *Node {
		return given(f.Mounts, func(all []Mount) *Node { return listNode(all, nodeOf(mountFields)) })
	}},
}

var mountFields = []member[Mount]{
	{Name: "label", Read: func(d *decoder, n *Node, m *Mount) { m.Label = d.String(n, TextRule) }, Node: func(m *Mount) *Node { return given(Opt[string]{m.Label, m.Label != ""}, doc.Str) }},
	{Name: "source", Read: func(d *decoder, n *Node, m *Mount) { m.Source = d.String(n, PathRule) }, Node: func(m *Mount) *Node { return given(Opt[string]{m.Source, m.Mode != MountTmpfs}, doc.Str) }},
	{Name: "target", Read: func(d *decoder, n *Node, m *Mount) { m.Target = d.String(n, targetRule) }, Node: func(m *Mount) *Node { return doc.Str(m.Target) }},
	{Name: "mode", Read: func(d *decoder, n *Node, m *Mount) { m.Mode = decode.Word(d, n, ParseMountMode, mountModes) }, Node: func(m *Mount) *Node { return wordNode(m.Mode) }},
}

var networkFields = []member[Network]{
	{Name: "mode", Read: func(d *decoder, n *Node, w *Network) {
		w.Mode = Some(decode.Word(d, n, ParseNetworkMode, networkModes))
	}, Node: func(w *Network) *Node { return given(w.Mode, wordNode) }},
	{Name: "allow", Read: func(d *decoder, n *Node, w *Network) { w.Allow = Some(d.Strings(n, endpointRule)) }, Node: func(w *Network) *Node { return given(w.Allow, doc.Strs) }},
	{Name: "listen", Read: func(d *decoder, n *Node, w *Network) {
		ports := []reach.Listen{}
		d.Each(n, "a list of ports", func(item *Node) { ports = append(ports, readListen(d, item, ports)) })
		w.Listen = Some(ports)
	}, Node: func(w *Network) *Node {
		return given(w.Listen, func(all []reach.Listen) *Node { return listNode(all, listenNode) })
	}},
}

var environmentFields = []member[Environment]{
	{Name: "pass", Read: func(d *decoder, n *Node, e *Environment) { e.Pass = Some(d.Strings(n, passRule)) }, Node: func(e *Environment) *Node { return given(e.Pass, doc.Strs) }},
	{Name: "set", Read: func(d *decoder, n *Node, e *Environment) { e.Set = Some(readVariables(d, n)) }, Node: func(e *Environment) *Node { return given(e.Set, variablesNode) }},
}

var commandsFields = []member[Commands]{
	{Name: "allow", Read: func(d *decoder, n *Node, c *Commands) { c.Allow = Some(d.Strings(n, programRule)) }, Node: func(c *Commands) *Node { return given(c.Allow, doc.Strs) }},
	{Name: "deny", Read: func(d *decoder, n *Node, c *Commands) { c.Deny = Some(d.Strings(n, programRule)) }, Node: func(c *Commands) *Node { return given(c.Deny, doc.Strs) }},
}

var limitsFields = []member[Limits]{
	{Name: "memory", Read: func(d *decoder, n *Node, l *Limits) { l.Memory = Some(readSize(d, n)) }, Node: func(l *Limits) *Node { return given(l.Memory, intNode[Bytes]) }},
	{Name: "cpus", Read: func(d *decoder, n *Node, l *Limits) {
		l.CPUs = Some(d.Number(n, minCPUs, maxCPUs, "a number of processors from 0.001 to 1000000"))
	}, Node: func(l *Limits) *Node { return given(l.CPUs, floatNode) }},
	{Name: "pids", Read: func(d *decoder, n *Node, l *Limits) { l.PIDs = Some(d.Whole(n, 1, decode.MaxWhole)) }, Node: func(l *Limits) *Node { return given(l.PIDs, intNode[int]) }},
	{Name: "open_files", Read: func(d *decoder, n *Node, l *Limits) { l.OpenFiles = Some(d.Whole(n, 1, decode.MaxWhole)) }, Node: func(l *Limits) *Node { return given(l.OpenFiles, intNode[int]) }},
	{Name: "file_size", Read: func(d *decoder, n *Node, l *Limits) { l.FileSize = Some(readSize(d, n)) }, Node: func(l *Limits) *Node { return given(l.FileSize, intNode[Bytes]) }},
	{Name: "timeout", Read: func(d *decoder, n *Node, l *Limits) { l.Timeout = Some(readDuration(d, n)) }, Node: func(l *Limits) *Node { return given(l.Timeout, durationNode) }},
}

var brokerFields = []member[Broker]{
	{Name: "file", Read: func(d *decoder, n *Node, b *Broker) { b.File = Some(d.String(n, PathRule)) }, Node: func(b *Broker) *Node { return given(b.File, doc.Str) }},
	{Name: "plan", Read: func(d *decoder, n *Node, b *Broker) { b.Plan = Some(d.String(n, PathRule)) }, Node: func(b *Broker) *Node { return given(b.Plan, doc.Str) }},
	{Name: "grant", Read: func(d *decoder, n *Node, b *Broker) { b.Grant = Some(d.Strings(n, grantRule)) }, Node: func(b *Broker) *Node { return given(b.Grant, doc.Strs) }},
}

// readMount reads a mount; targets are the targets of the mounts before it in the list.
func readMount(d *decoder, n *Node, targets map[string]bool) Mount {
	m := decode.Part(d, n, mountFields)
	source, target, mode := n.Get("source"), n.Get("target"), n.Get("mode")
	switch {
	case d.Err != nil:
	case target == nil:
		d.FailMeant(n.Pos, "a mount needs a target", "", `add "target": "/path/inside"`)
	case mode == nil:
		d.FailMeant(n.Pos, "a mount needs a mode", "", "one of ro, rw, tmpfs")
	case m.Mode == MountTmpfs && source != nil:
		d.Path = doc.Join(d.Path, "source")
		d.Fail(source.Pos, "a tmpfs has no source")
	case m.Mode != MountTmpfs && source == nil:
		d.FailMeant(n.Pos, "a mount needs a source", "", "only a tmpfs has none")
	}
	if at := clean(m.Target); d.Err == nil {
		if targets[at] {
			d.Path = doc.Join(d.Path, "target")
			d.Fail(target.Pos, "two mounts on "+odd(at))
		}
		targets[at] = true
	}
	return m
}

// readListen reads an item of network.listen; others are the items before it.
func readListen(d *decoder, n *Node, others []reach.Listen) reach.Listen {
	var l reach.Listen
	if n.Kind == String {
		var err *reach.Error
		if l, err = reach.ParseListen(n.Text); err != nil {
			d.FailMeant(n.Pos, err.Why, err.Meant, err.Help)
		}
	} else {
		l = reach.ListenAt(d.Whole(n, 1, 65535))
	}
	for _, other := range others {
		if d.Err == nil && l.Takes(other) {
			d.Fail(n.Pos, "the port "+strconv.Itoa(l.Host)+" is there twice")
		}
	}
	return l
}

func readVariables(d *decoder, n *Node) map[string]string {
	set := make(map[string]string, len(n.Members))
	d.Named(n, "an object of names and strings", variableRule, func(m *Member) { set[m.Key] = d.String(m.Value, TextRule) })
	return set
}

// AcrossFields checks the rules that concern more than one field.
func AcrossFields(d *decoder, root *Node) {
	if d.Err != nil {
		return
	}
	network := root.Get("network")
	if allow, mode := network.Get("allow"), network.Get("mode"); allow != nil && mode != nil && mode.Text != "allow" {
		d.Path = "network.allow"
		d.FailMeant(allow.Pos, "network.mode is "+mode.Text+", so nothing can be allowed", "",
			`write "mode": "allow", or leave network.allow out`)
	}
	if sandbox := root.Get("sandbox"); sandbox != nil && sandbox.Get("root") == nil {
		d.Path = "sandbox"
		d.FailMeant(sandbox.Pos, "a sandbox needs a root", "", `add "root": "."`)
	}
}
