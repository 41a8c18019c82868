package audit

import (
	"slices"
	"strconv"
	"strings"

	"sbx/spec"
	"sbx/spec/redact"
)

// appendResolved writes what the documents came to, in the words of a spec.
func appendResolved(w *writer, r *spec.Resolved) {
	w.open('{')
	w.keyText("access_mode", r.AccessMode.String())
	w.keyText("working_dir", r.WorkingDir.Abs)
	w.key("read_only")
	w.bool(r.ReadOnly)
	w.key("private_folders")
	w.bool(r.Private)
	w.key("side_doors")
	w.str(word(r.SideDoors, "shut", "open"))
	appendFiles(w, r)
	appendNetwork(w, r)
	appendEnvironment(w, r)
	w.keyText("syscalls", strings.Join(append([]string{r.Syscalls}, r.MoreSyscalls...), ", "))
	if r.Job != nil {
		w.keyText("input", r.Job.Input.Abs)
		w.keyText("output", r.Job.Output.Abs)
	}
	w.keyText("root", r.Root.Abs)
	w.keyText("restricted", r.Restricted.Abs)
	if r.Spec != nil {
		appendBudgets(w, r.Spec)
	}
	if len(r.BestEffort) > 0 {
		w.key("best_effort")
		w.open('[')
		for _, f := range r.BestEffort {
			w.item()
			w.str(string(f))
		}
		w.close(']')
	}
	w.close('}')
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
		w.key("read")
		w.open('[')
		if r.System {
			w.item()
			w.str("@system")
		}
		appendPaths(w, r.Read)
		w.close(']')
	}
	w.key("write")
	w.open('[')
	appendPaths(w, r.Write)
	for _, g := range r.Globs {
		w.item()
		w.str(g)
	}
	w.close(']')
	w.key("hide")
	w.open('[')
	appendPaths(w, r.Hide)
	w.close(']')
	w.key("mounts")
	w.open('[')
	for i := range r.Mounts {
		m := &r.Mounts[i]
		w.item()
		w.open('{')
		w.keyText("label", m.Label)
		w.keyText("source", m.Source.Abs)
		w.keyStr("target", m.Target)
		w.keyStr("mode", m.Mode.String())
		w.close('}')
	}
	w.close(']')
}

func appendPaths(w *writer, paths []spec.Path) {
	for i := range paths {
		w.item()
		w.str(paths[i].Abs)
	}
}

func appendNetwork(w *writer, r *spec.Resolved) {
	w.key("network")
	w.open('{')
	w.keyStr("mode", r.Network.String())
	if r.Network == spec.NetworkAllow && r.Spec != nil {
		w.keyList("allow", r.Spec.Network.Value.Allow.Value)
	}
	if len(r.Listen) > 0 {
		w.key("listen")
		w.open('[')
		for _, p := range r.Listen {
			w.item()
			w.num(int64(p))
		}
		w.close(']')
	}
	w.close('}')
}

// appendEnvironment names variables and never says what they hold.
func appendEnvironment(w *writer, r *spec.Resolved) {
	w.key("environment")
	w.open('{')
	w.keyList("passed", r.Passed)
	w.keyList("dropped", r.Dropped)
	w.key("set")
	w.open('{')
	if r.Spec != nil {
		set := r.Spec.Environment.Value.Set.Value
		names := make([]string, 0, len(set))
		for n := range set {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			w.name(n)
			w.str(redact.Mark)
		}
	}
	w.close('}')
	w.close('}')
}

func appendBudgets(w *writer, s *spec.SandboxSpec) {
	w.keyOptInt("max_turns", s.MaxTurns)
	w.keyOptInt("max_commands", s.MaxCommands)
	w.keyText("on_exceed", s.OnExceed.Value.String())
	w.keyOptList("tools_allowed", s.ToolsAllowed)
	w.keyOptList("tools_denied", s.ToolsDenied)
	if s.Commands.Set {
		w.key("commands")
		w.open('{')
		w.keyOptList("allow", s.Commands.Value.Allow)
		w.keyOptList("deny", s.Commands.Value.Deny)
		w.close('}')
	}
	if s.Limits.Set {
		appendLimits(w, &s.Limits.Value)
	}
}

func appendLimits(w *writer, l *spec.Limits) {
	w.key("limits")
	w.open('{')
	if l.Memory.Set {
		w.keyNum("memory", int64(l.Memory.Value))
	}
	if l.CPUs.Set {
		w.key("cpus")
		w.raw(strconv.AppendFloat(nil, l.CPUs.Value, 'g', -1, 64))
	}
	w.keyOptInt("pids", l.PIDs)
	w.keyOptInt("open_files", l.OpenFiles)
	if l.FileSize.Set {
		w.keyNum("file_size", int64(l.FileSize.Value))
	}
	if l.Timeout.Set {
		w.keyStr("timeout", l.Timeout.Value.String())
	}
	w.close('}')
}

func (w *writer) keyOptInt(k string, n spec.Opt[int]) {
	if n.Set {
		w.keyNum(k, int64(n.Value))
	}
}

func (w *writer) keyOptList(k string, l spec.Opt[[]string]) {
	if l.Set {
		w.keyList(k, l.Value)
	}
}
