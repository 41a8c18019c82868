package profile

import (
	"slices"
	"strings"

	"sbx/spec"
	"sbx/spec/agent"
)

// Flags has the agent's flags for a choice, and who enforces each line of the profile.
type Flags struct {
	Args    []string
	Kept    []agent.Kept
	Lacking []agent.Lack
}

// Ask returns what the chosen profile requests from an agent's command line.
func (ch *Choice) Ask(project string) agent.Ask {
	h := ch.Row.holds()
	ask := agent.Ask{Allowed: spec.Some(ch.Tools), Denied: h.denied, Mode: ch.Row.Mode.Value, Access: h.access}
	ask.Writes = append(slices.Clip(h.writes), ch.Row.WriteExisting.Value...)
	if project != "" {
		ask.Dirs = []string{project}
	}
	return ask
}

// Flags returns the flags for one agent, with what the agent and what the kernel enforces.
func (ch *Choice) Flags(a spec.Agent, ask agent.Ask) Flags {
	var f Flags
	f.Args, f.Kept, f.Lacking = agent.Flags(a, ask)
	f.Kept = append(f.Kept, ch.Row.kernel()...)
	edit := slices.ContainsFunc(ch.Tools, edits)
	if ask.Access == spec.WorkspaceWrite && !edit && !slices.ContainsFunc(f.Lacking, func(l agent.Lack) bool { return edits(l.Tool) }) {
		f.Kept = append(f.Kept, agent.Kept{Line: "edits nothing itself", By: agent.ByAgent,
			How: "builds and tests may write, so the kernel lets Bash write the project"})
	}
	return f
}

// Warnings lists what the user of the flags should know: tools of the front matter that the profile
// does not include, and requests that the agent's flags cannot express.
func (ch *Choice) Warnings(a spec.Agent, f Flags) []string {
	all := slices.Clone(ch.Asides)
	for _, l := range f.Lacking {
		all = append(all, a.String()+"'s flags do not hold "+l.Tool+": "+l.Why)
	}
	return all
}

// specs returns the profile's own spec and the project's, in order.
func (r *Row) specs() []*spec.SandboxSpec {
	return append([]*spec.SandboxSpec{r.Spec.Value}, r.Narrowing...)
}

// flags are the requests of the profile's specs, the project's included, that an agent's command
// line can express.
type flags struct {
	access spec.AccessMode
	writes []string
	denied []string
}

func (r *Row) holds() flags {
	var h flags
	for _, s := range r.specs() {
		h.denied = append(h.denied, s.ToolsDenied.Value...)
		if s.AccessMode.Set {
			h.access = s.AccessMode.Value
		}
		if s.Readonly.Value {
			h.access = spec.ReadOnly
		}
		if s.Filesystem.Value.Write.Set {
			h.writes = s.Filesystem.Value.Write.Value
		}
	}
	return h
}

// kernel lists what the profile's specs let the kernel enforce.
func (r *Row) kernel() []agent.Kept {
	var all []agent.Kept
	keep := func(line, how string) { all = append(all, agent.Kept{Line: line, By: agent.ByKernel, How: how}) }
	if r.Scoped.Value {
		keep("has in view the project, its own needs and @system", "filesystem.read; --add-dir grants, and withholds nothing")
	}
	switch h := r.holds(); {
	case h.access == spec.ReadOnly && len(h.writes) == 0 && len(r.WriteExisting.Value) == 0:
		keep("writes nothing but its own state", "access_mode read-only, whatever its tools and Bash patterns say")
	case h.access == spec.ReadOnly:
		keep("writes "+r.writing(h.writes)+" and its own state alone", "access_mode read-only and filesystem.write")
		if ends := strings.Join(r.WriteExisting.Value, ", "); ends != "" {
			keep("a new "+ends+" elsewhere is denied, and so is one that is renamed over another",
				"the files that are there at launch are bound in place, but for those in node_modules and in directories that begin with a dot; "+
					"a tool that writes a new file and renames it over the old one, as Claude's do, is denied there")
		}
	case h.access == spec.WorkspaceWrite:
		keep("writes the project, but for protected names, and its own state", "access_mode workspace-write")
	}
	for i, s := range r.specs() {
		from := "the profile's spec"
		if i > 0 {
			from = "the project's spec for it (" + s.Source.Name + ")"
		}
		for _, field := range s.Asked() {
			switch {
			case field == "tools_denied": // the agent enforces it
			case i == 0 && (field == "access_mode" || field == "filesystem.write"): // a line above says so
			case field == "environment.set":
				keep("sets "+strings.Join(s.Names(field), ", "), from)
			default:
				keep(string(field)+" "+s.Text(field), from)
			}
		}
	}
	return all
}

// writing describes the writable paths in words.
func (r *Row) writing(writes []string) string {
	var all []string
	for _, w := range writes {
		word := strings.TrimSuffix(w, "/")
		if slices.Contains(r.Make.Value, w) {
			word += "/ (made if missing)"
		}
		all = append(all, word)
	}
	for _, e := range r.WriteExisting.Value {
		all = append(all, "the "+e+" files that are there at launch, in place,")
	}
	return strings.Join(all, ", ")
}

func edits(tool string) bool {
	name := bare(tool)
	return name == "Write" || name == "Edit" || name == "NotebookEdit"
}
