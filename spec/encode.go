package spec

import (
	"slices"
	"strconv"
	"time"

	"sbx/internal/doc"
	"sbx/internal/reach"
)

// Node is the document: as it was read or, for a spec made in Go, as it would
// be written. Decoding that again gives an equal spec.
func (s *SandboxSpec) Node() *Node {
	if s.Source.Root != nil {
		return s.Source.Root
	}
	n := &Node{Kind: Object}
	strings := func(name string, o Opt[[]string]) { put(n, name, o, stringList) }
	strings("tools_allowed", s.ToolsAllowed)
	strings("tools_denied", s.ToolsDenied)
	put(n, "working_dir", s.WorkingDir, stringNode)
	put(n, "access_mode", s.AccessMode, wordNode)
	put(n, "max_turns", s.MaxTurns, intNode)
	put(n, "max_commands", s.MaxCommands, intNode)
	put(n, "profile", s.Profile, wordNode)
	put(n, "sandbox", s.Sandbox, workshopNode)
	put(n, "restrict", s.Restrict, stringNode)
	put(n, "readonly", s.Readonly, boolNode)
	put(n, "filesystem", s.Filesystem, filesystemNode)
	put(n, "network", s.Network, networkNode)
	put(n, "environment", s.Environment, environmentNode)
	put(n, "commands", s.Commands, commandsNode)
	put(n, "limits", s.Limits, limitsNode)
	put(n, "syscalls", s.Syscalls, stringNode)
	put(n, "broker", s.Broker, brokerNode)
	put(n, "on_exceed", s.OnExceed, wordNode)
	strings("best_effort", s.BestEffort)
	put(n, "require_available", s.RequireAvailable, boolNode)
	put(n, "agent", s.Agent, wordNode)
	return n
}

// put adds a member where o is set.
func put[T any](n *Node, name string, o Opt[T], node func(T) *Node) {
	if o.Set {
		n.Members = append(n.Members, Member{Key: name, Value: node(o.Value)})
	}
}

func stringNode(s string) *Node { return &Node{Kind: String, Text: s} }
func boolNode(b bool) *Node     { return &Node{Kind: Bool, Text: strconv.FormatBool(b)} }
func intNode(i int) *Node       { return &Node{Kind: Number, Text: strconv.Itoa(i)} }
func sizeNode(b Bytes) *Node    { return intNode(int(b)) }

func wordNode[E interface{ String() string }](e E) *Node { return stringNode(e.String()) }

func floatNode(f float64) *Node {
	return &Node{Kind: Number, Text: string(doc.AppendNumber(nil, f))}
}

// durationNode writes the largest unit that divides d, or seconds where none
// of ParseDuration's does.
func durationNode(d time.Duration) *Node {
	for _, c := range clocks {
		count := strconv.FormatInt(int64(d/c.length), 10)
		if d%c.length == 0 && len(count) <= c.digits {
			return stringNode(count + c.suffix)
		}
	}
	return floatNode(d.Seconds())
}

func listNode[T any](items []T, node func(T) *Node) *Node {
	n := &Node{Kind: List}
	for _, item := range items {
		n.Items = append(n.Items, node(item))
	}
	return n
}

func stringList(all []string) *Node { return listNode(all, stringNode) }

func workshopNode(w Workshop) *Node {
	n := &Node{Kind: Object}
	put(n, "root", w.Root, stringNode)
	put(n, "readonly", w.Readonly, boolNode)
	return n
}

func filesystemNode(f Filesystem) *Node {
	n := &Node{Kind: Object}
	put(n, "read", f.Read, stringList)
	put(n, "write", f.Write, stringList)
	put(n, "hide", f.Hide, stringList)
	put(n, "mounts", f.Mounts, func(all []Mount) *Node { return listNode(all, mountNode) })
	return n
}

func mountNode(m Mount) *Node {
	n := &Node{Kind: Object}
	put(n, "label", Opt[string]{m.Label, m.Label != ""}, stringNode)
	put(n, "source", Opt[string]{m.Source, m.Mode != MountTmpfs}, stringNode)
	put(n, "target", Some(m.Target), stringNode)
	put(n, "mode", Some(m.Mode), wordNode)
	return n
}

func networkNode(w Network) *Node {
	n := &Node{Kind: Object}
	put(n, "mode", w.Mode, wordNode)
	put(n, "allow", w.Allow, stringList)
	put(n, "listen", w.Listen, func(all []reach.Listen) *Node { return listNode(all, listenNode) })
	return n
}

func listenNode(l reach.Listen) *Node {
	if l.IsPort() {
		return intNode(l.Host)
	}
	return stringNode(l.String())
}

func environmentNode(e Environment) *Node {
	n := &Node{Kind: Object}
	put(n, "pass", e.Pass, stringList)
	put(n, "set", e.Set, variablesNode)
	return n
}

// variablesNode sorts the names: a map has no order.
func variablesNode(set map[string]string) *Node {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	n := &Node{Kind: Object}
	for _, name := range names {
		put(n, name, Some(set[name]), stringNode)
	}
	return n
}

func commandsNode(c Commands) *Node {
	n := &Node{Kind: Object}
	put(n, "allow", c.Allow, stringList)
	put(n, "deny", c.Deny, stringList)
	return n
}

func brokerNode(b Broker) *Node {
	n := &Node{Kind: Object}
	put(n, "file", b.File, stringNode)
	put(n, "plan", b.Plan, stringNode)
	put(n, "grant", b.Grant, stringList)
	return n
}

func limitsNode(l Limits) *Node {
	n := &Node{Kind: Object}
	put(n, "memory", l.Memory, sizeNode)
	put(n, "cpus", l.CPUs, floatNode)
	put(n, "pids", l.PIDs, intNode)
	put(n, "open_files", l.OpenFiles, intNode)
	put(n, "file_size", l.FileSize, sizeNode)
	put(n, "timeout", l.Timeout, durationNode)
	return n
}
