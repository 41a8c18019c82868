package audit

import (
	"slices"
	"strconv"
	"strings"

	"sbx/internal/reach"
	"sbx/spec"
	"sbx/spec/redact"
)

// appendResolved writes what the documents came to, in the words of a spec.
func appendResolved(w *writer, r *spec.Resolved) {
	w.Open('{')
	w.KeyText("access_mode", r.AccessMode.String())
	w.KeyText("working_dir", r.WorkingDir.Abs)
	w.Key("read_only")
	w.Bool(r.ReadOnly)
	w.Key("private_folders")
	w.Bool(r.Private)
	w.Key("side_doors")
	w.Str(word(r.SideDoors, "shut", "open"))
	appendFiles(w, r)
	appendNetwork(w, r)
	appendEnvironment(w, r)
	w.KeyText("syscalls", strings.Join(append([]string{r.Syscalls}, r.MoreSyscalls...), ", "))
	if r.Job != nil {
		w.KeyText("input", r.Job.Input.Abs)
		w.KeyText("output", r.Job.Output.Abs)
	}
	w.KeyText("root", r.Root.Abs)
	w.KeyText("restricted", r.Restricted.Abs)
	if r.Spec != nil {
		appendBudgets(w, r.Spec)
	}
	if len(r.BestEffort) > 0 {
		w.Key("best_effort")
		w.Open('[')
		for _, f := range r.BestEffort {
			w.Item()
			w.Str(string(f))
		}
		w.Close(']')
	}
	w.Close('}')
}

func word(yes bool, ifYes, ifNo string) string {
	if yes {
		return ifYes
	}
	return ifNo
}

// appendFiles writes read only where it constrains: without it the whole host
// is in view.
func appendFiles(w *writer, r *spec.Resolved) {
	if r.Visible {
		w.Key("read")
		w.Open('[')
		if r.System {
			w.Item()
			w.Str("@system")
		}
		appendPaths(w, r.Read)
		w.Close(']')
	}
	w.Key("write")
	w.Open('[')
	appendPaths(w, r.Write)
	for _, g := range r.Globs {
		w.Item()
		w.Str(g)
	}
	w.Close(']')
	w.Key("hide")
	w.Open('[')
	appendPaths(w, r.Hide)
	w.Close(']')
	w.Key("mounts")
	w.Open('[')
	for i := range r.Mounts {
		m := &r.Mounts[i]
		w.Item()
		w.Open('{')
		w.KeyText("label", m.Label)
		w.KeyText("source", m.Source.Abs)
		w.KeyStr("target", m.Target)
		w.KeyStr("mode", m.Mode.String())
		w.Close('}')
	}
	w.Close(']')
}

func appendPaths(w *writer, paths []spec.Path) {
	for i := range paths {
		w.Item()
		w.Str(paths[i].Abs)
	}
}

func appendNetwork(w *writer, r *spec.Resolved) {
	w.Key("network")
	w.Open('{')
	w.KeyStr("mode", r.Network.String())
	if r.Network == spec.NetworkAllow {
		appendReach(w, r.Reach)
	}
	if len(r.Listen) > 0 {
		w.Key("listen")
		w.Open('[')
		for _, p := range r.Listen {
			w.Item()
			w.Str(p.String())
		}
		w.Close(']')
	}
	w.Close('}')
}

// appendReach lists the endpoints that may be reached, each with what asked for it.
func appendReach(w *writer, rules reach.Reach) {
	w.Key("allow")
	w.Open('[')
	for i := range rules {
		w.Item()
		w.Open('{')
		w.KeyStr("to", rules[i].Text)
		w.KeyStr("by", rules[i].Cause)
		w.Close('}')
	}
	w.Close(']')
}

// appendEnvironment names variables and never says what they hold.
func appendEnvironment(w *writer, r *spec.Resolved) {
	w.Key("environment")
	w.Open('{')
	w.KeyList("passed", r.Passed)
	w.KeyList("dropped", r.Dropped)
	w.Key("set")
	w.Open('{')
	if r.Spec != nil {
		set := r.Spec.Environment.Value.Set.Value
		names := make([]string, 0, len(set))
		for n := range set {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			w.Key(n)
			w.Str(redact.Mark)
		}
	}
	w.Close('}')
	w.Close('}')
}

func appendBudgets(w *writer, s *spec.SandboxSpec) {
	w.keyOptInt("max_turns", s.MaxTurns)
	w.keyOptInt("max_commands", s.MaxCommands)
	w.KeyText("on_exceed", s.OnExceed.Value.String())
	w.keyOptList("tools_allowed", s.ToolsAllowed)
	w.keyOptList("tools_denied", s.ToolsDenied)
	if s.Commands.Set {
		w.Key("commands")
		w.Open('{')
		w.keyOptList("allow", s.Commands.Value.Allow)
		w.keyOptList("deny", s.Commands.Value.Deny)
		w.Close('}')
	}
	if s.Limits.Set {
		appendLimits(w, &s.Limits.Value)
	}
}

func appendLimits(w *writer, l *spec.Limits) {
	w.Key("limits")
	w.Open('{')
	if l.Memory.Set {
		w.KeyInt("memory", int64(l.Memory.Value))
	}
	if l.CPUs.Set {
		w.Key("cpus")
		w.B = strconv.AppendFloat(w.B, l.CPUs.Value, 'g', -1, 64)
	}
	w.keyOptInt("pids", l.PIDs)
	w.keyOptInt("open_files", l.OpenFiles)
	if l.FileSize.Set {
		w.KeyInt("file_size", int64(l.FileSize.Value))
	}
	if l.Timeout.Set {
		w.KeyStr("timeout", l.Timeout.Value.String())
	}
	w.Close('}')
}

func (w *writer) keyOptInt(k string, n spec.Opt[int]) {
	if n.Set {
		w.KeyInt(k, int64(n.Value))
	}
}

func (w *writer) keyOptList(k string, l spec.Opt[[]string]) {
	if l.Set {
		w.KeyList(k, l.Value)
	}
}
