package profile

import (
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
	"sbx/spec/agent"
)

// View is a profile as it is shown: with its flags for one agent, and its specs in one project.
type View struct {
	Row    *Row
	Points []string
	Agent  spec.Agent // the agent of the flags
	Flags  Flags
	Specs  []*spec.SandboxSpec
	Needs  *spec.AgentNeeds
	Found  Found
}

// View returns the profile for an agent with these needs, in a project.
func (c *Catalog) View(r *Row, project string, needs *spec.AgentNeeds, found Found) View {
	ch := &Choice{Row: r, Tools: r.Tools()}
	there := found
	there.Lacks = nil // shows the specs as they will be once these directories are made
	return View{Row: r, Points: c.PointsOf(r.Name), Agent: needs.Agent, Needs: needs, Found: found,
		Flags: ch.Flags(needs.Agent, ch.Ask(project)), Specs: r.SpecsAt(project, there)}
}

// Text returns the view as text for a person.
func (v View) Text() string {
	var b strings.Builder
	r := v.Row
	b.WriteString("profile " + r.Name + ": " + r.Why.Value + " (" + r.From + ")\n")
	line := func(name, text string) {
		if text != "" {
			b.WriteString("  " + doc.Pad(name, 21) + text + "\n")
		}
	}
	scoped := "no"
	if r.Scoped.Value {
		scoped = "yes"
	}
	line("agents", strings.Join(named(r.Agents), ", "))
	line("launch points", strings.Join(v.Points, ", "))
	line("allowed tools", strings.Join(r.AllowedTools.Value, ", "))
	line("bash policy", strings.Join(r.BashPolicy.Value, ", "))
	line("permission mode", r.Mode.Value.String())
	line("project-scoped", scoped)
	for i, s := range v.Specs {
		name := "spec"
		if i > 0 {
			name = "narrowed by"
		}
		line(name, string(s.Node().AppendJSON(nil, nil)))
	}
	for _, m := range ownModes {
		line(v.Agent.String()+"'s own, "+m.word, strings.Join(v.own(m.mode), ", "))
	}
	line("flags, "+v.Agent.String(), Line(v.Flags.Args))
	b.WriteString("kept by\n")
	for _, k := range v.Flags.Kept {
		b.WriteString("  " + doc.Pad(k.By.String(), 8) + k.Line + "\n" + "          " + k.How + "\n")
	}
	if len(v.Flags.Lacking) > 0 {
		b.WriteString("not kept by " + v.Agent.String() + "'s flags\n")
		for _, l := range v.Flags.Lacking {
			b.WriteString("  " + doc.Pad(l.Tool, 10) + l.Why + "\n")
		}
	}
	for _, note := range v.Found.Notes() {
		b.WriteString("note: " + note + "\n")
	}
	return b.String()
}

// ownModes names the modes of the paths that an agent needs.
var ownModes = []struct {
	mode spec.OwnMode
	word string
}{{spec.OwnRead, "read"}, {spec.OwnWrite, "write"}, {spec.OwnLocked, "locked"}, {spec.OwnPrivate, "private"}}

// own returns the paths that the agent needs in one mode.
func (v View) own(mode spec.OwnMode) []string {
	all := []string{}
	for _, f := range v.Needs.Files {
		if f.Mode == mode {
			all = append(all, f.Path)
		}
	}
	return all
}

// Notes describes what was found in a project, if that is not what one may expect.
func (f Found) Notes() []string {
	var all []string
	for _, m := range f.Made {
		all = append(all, m+" was made")
	}
	for _, l := range f.Lacks {
		all = append(all, l+" is missing, and is made when a command starts under the profile")
	}
	if f.Cut != "" {
		all = append(all, "the search for files that exist ended early: "+f.Cut)
	}
	if f.Odd > 0 {
		all = append(all, "files with * or ? in their paths stay read-only")
	}
	return all
}

// Line joins arguments into one line that a shell splits into the same arguments.
func Line(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = shellWord(a)
	}
	return strings.Join(quoted, " ")
}

// shellWord quotes an argument if a shell would change it. It uses double quotes if nothing in the
// argument has a meaning between them.
func shellWord(s string) string {
	switch {
	case s != "" && isPlain(s):
		return s
	case !strings.ContainsAny(s, "\"$`\\!\n"):
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// isPlain reports whether a shell takes every byte literally.
func isPlain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '/', c == '-', c == '_', c == '.', c == ',', c == ':', c == '=', c == '+', c == '@', c == '%':
		default:
			return false
		}
	}
	return true
}

func named(all []Named) []string {
	names := []string{}
	for _, n := range all {
		names = append(names, n.Name)
	}
	return names
}

// Text returns the catalog as text for a person: each profile with its agents and launch points.
func (c *Catalog) Text() string {
	var b strings.Builder
	for i := range c.Rows {
		r := &c.Rows[i]
		b.WriteString(doc.Pad(r.Name, 14) + r.Why.Value + "\n")
		if len(r.Agents) > 0 {
			b.WriteString("  agents: " + strings.Join(named(r.Agents), ", ") + "\n")
		}
		if points := c.PointsOf(r.Name); len(points) > 0 {
			b.WriteString("  launch points: " + strings.Join(points, ", ") + "\n")
		}
		if r.From != builtIn {
			b.WriteString("  from: " + r.From + "\n")
		}
	}
	if own := c.PointsOf(Own); len(own) > 0 {
		b.WriteString("the agent's own profile holds at: " + strings.Join(own, ", ") + "\n")
	}
	return b.String()
}

// keptNode returns a line of the profile and who enforces it, as JSON.
func keptNode(k agent.Kept) *spec.Node {
	return object(text("line", k.Line), text("by", k.By.String()), text("how", k.How))
}
