package audit

import (
	"slices"
	"strconv"
	"strings"

	"sbx/internal/doc"
	"sbx/internal/reach"
	"sbx/spec"
	"sbx/spec/redact"
)

// appendResolved writes the resolved spec in the words of a spec.
func appendResolved(w *writer, r *spec.Resolved) {
	w.Open('{')
	w.KeyText("access_mode", r.AccessMode.String())
	w.KeyText("working_dir", r.WorkingDir.Abs)
	w.KeyBool("read_only", r.ReadOnly)
	w.KeyBool("private_folders", r.Private)
	w.KeyStr("side_doors", word(r.SideDoors, "shut", "open"))
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
		doc.Values(&w.Writer, "best_effort", r.BestEffort, func(f *spec.Field) { w.Str(string(*f)) })
	}
	w.Close('}')
}

func word(yes bool, ifYes, ifNo string) string {
	if yes {
		return ifYes
	}
	return ifNo
}

// appendFiles writes the lists of paths. It leaves "read" out if the whole host is in view.
func appendFiles(w *writer, r *spec.Resolved) {
	if r.Visible {
		w.KeyOpen("read", '[')
		if r.System {
			w.Item()
			w.Str("@system")
		}
		appendPaths(w, r.Read)
		w.Close(']')
	}
	w.KeyOpen("write", '[')
	appendPaths(w, r.Write)
	for _, g := range r.Globs {
		w.Item()
		w.Str(g)
	}
	w.Close(']')
	w.KeyOpen("hide", '[')
	appendPaths(w, r.Hide)
	w.Close(']')
	doc.Objects(&w.Writer, "mounts", r.Mounts, func(m *spec.MountAt) {
		w.KeyText("label", m.Label)
		w.KeyText("source", m.Source.Abs)
		w.KeyStr("target", m.Target)
		w.KeyStr("mode", m.Mode.String())
	})
}

func appendPaths(w *writer, paths []spec.Path) {
	for i := range paths {
		w.Item()
		w.Str(paths[i].Abs)
	}
}

func appendNetwork(w *writer, r *spec.Resolved) {
	w.KeyOpen("network", '{')
	w.KeyStr("mode", r.Network.String())
	if r.Network == spec.NetworkAllow {
		appendReach(w, r.Reach)
	}
	if len(r.Listen) > 0 {
		doc.Values(&w.Writer, "listen", r.Listen, func(p *reach.Listen) { w.Str(p.String()) })
	}
	w.Close('}')
}

// appendReach lists the endpoints that may be reached, each with the line that requested it.
func appendReach(w *writer, rules reach.Reach) {
	doc.Objects(&w.Writer, "allow", rules, func(rule *reach.Rule) {
		w.KeyStr("to", rule.Text)
		w.KeyStr("by", rule.Cause)
	})
}

// appendEnvironment writes the names of variables, never their values.
func appendEnvironment(w *writer, r *spec.Resolved) {
	w.KeyOpen("environment", '{')
	w.KeyList("passed", r.Passed)
	w.KeyList("dropped", r.Dropped)
	w.KeyOpen("set", '{')
	if r.Spec != nil {
		set := r.Spec.Environment.Value.Set.Value
		names := make([]string, 0, len(set))
		for n := range set {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			w.KeyStr(n, redact.Mark)
		}
	}
	w.Close('}')
	w.Close('}')
}

func appendBudgets(w *writer, s *spec.SandboxSpec) {
	keyOpt(w, "max_turns", s.MaxTurns)
	keyOpt(w, "max_commands", s.MaxCommands)
	w.KeyText("on_exceed", s.OnExceed.Value.String())
	w.keyOptList("tools_allowed", s.ToolsAllowed)
	w.keyOptList("tools_denied", s.ToolsDenied)
	if s.Commands.Set {
		w.KeyOpen("commands", '{')
		w.keyOptList("allow", s.Commands.Value.Allow)
		w.keyOptList("deny", s.Commands.Value.Deny)
		w.Close('}')
	}
	if s.Limits.Set {
		appendLimits(w, &s.Limits.Value)
	}
}

func appendLimits(w *writer, l *spec.Limits) {
	w.KeyOpen("limits", '{')
	keyOpt(w, "memory", l.Memory)
	if l.CPUs.Set {
		w.Key("cpus")
		w.B = strconv.AppendFloat(w.B, l.CPUs.Value, 'g', -1, 64)
	}
	keyOpt(w, "pids", l.PIDs)
	keyOpt(w, "open_files", l.OpenFiles)
	keyOpt(w, "file_size", l.FileSize)
	if l.Timeout.Set {
		w.KeyStr("timeout", l.Timeout.Value.String())
	}
	w.Close('}')
}
