package profile

import (
	"slices"
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
	"sbx/spec/workshop"
)

// Asked says for whom a profile is requested.
type Asked struct {
	Name  string // the name of an agent, or of a launch point
	Point string // the launch point; "" for none
	// File is the agent's own .md file, if it has one, and FileName that file's name.
	File     *workshop.AgentFile
	FileName string
}

// Choice is the profile that an agent gets, and the reasons for it.
type Choice struct {
	Row   *Row
	Point string   // "" for none
	Tools []string // with a bare Bash replaced by the rules of bash_policy
	Why   []string // a sentence about the profile, and one about the tools
	// Asides are remarks about what a user may not expect.
	Asides []string
}

// Choose chooses the profile of an agent or a launch point. An agent that belongs to no profile
// needs front matter with tools, which then decide.
func (c *Catalog) Choose(a Asked) (*Choice, error) {
	agent, point := a.Name, a.Point
	if c.of(agent) == nil && a.File == nil && point == "" && c.point(agent) != nil {
		agent, point = "", agent
	}
	ch := &Choice{Point: point}
	own := c.of(agent)
	tools := frontTools(a.File)
	if agent != "" && own == nil && !tools.Set {
		return nil, c.unknown(agent, a)
	}
	fixed := ""
	if point != "" {
		p := c.point(point)
		if p == nil {
			return nil, &spec.Problem{On: point, Do: "find the launch point", Why: "there is none of that name", Help: "known: " + strings.Join(c.pointNames(), ", ")}
		}
		if fixed = p.Profile; fixed == Own && agent == "" {
			return nil, &spec.Problem{On: point, Do: "choose a profile", Why: "at " + point + " holds the agent's own profile, and no agent is named",
				Help: "name it: sbx profile flags AGENT --point " + point}
		}
	}
	switch {
	case fixed != "" && fixed != Own:
		ch.Row = c.row(fixed)
		ch.why("profile " + fixed + ": it holds at " + point + " (" + c.point(point).From + ")")
	case own != nil:
		ch.Row = own
		ch.why("profile " + own.Name + ": " + agent + " is one of its agents (" + own.From + ")")
	default:
		name, why := byTools(tools.Value)
		ch.Row = c.row(name)
		ch.why("profile " + name + ": " + agent + " is in no profile, and its front matter has " + why)
	}
	if a.File != nil {
		for _, w := range a.File.Warnings {
			ch.aside(w.String())
		}
	}
	ch.tools(tools, a.FileName, fixed != "" && fixed != Own)
	return ch, nil
}

func (ch *Choice) why(text string)   { ch.Why = append(ch.Why, text) }
func (ch *Choice) aside(text string) { ch.Asides = append(ch.Asides, text) }

// tools decides the tools. The front matter of an agent's own file decides alone, except that a
// launch point with a profile of its own narrows the tools.
func (ch *Choice) tools(front spec.Opt[[]string], file string, fixed bool) {
	own := ch.Row.Tools()
	if !front.Set {
		ch.Tools = own
		ch.why("tools: those of the profile")
		return
	}
	ch.why("tools: those of " + file)
	var foreign []string
	for _, t := range ch.Row.Expand(front.Value) {
		switch {
		case covered(own, t):
			ch.Tools = append(ch.Tools, t)
		case fixed:
			foreign = append(foreign, t)
		default:
			ch.Tools, foreign = append(ch.Tools, t), append(foreign, t)
		}
	}
	if ch.Tools == nil {
		ch.Tools = []string{}
	}
	switch list := strings.Join(foreign, ", "); {
	case list == "":
	case fixed:
		ch.aside(file + " lists " + list + ", left out: at " + ch.Point + " holds " + ch.Row.Name + ", which has no such tools")
	default:
		ch.aside(file + " lists " + list + ", which profile " + ch.Row.Name + " does not include: the agent gets them, and the kernel keeps it to " + ch.Row.Name + " all the same")
	}
}

// frontTools returns the tools of an agent's file. "*" means all tools, as does a file without
// tools; both count as unset.
func frontTools(f *workshop.AgentFile) spec.Opt[[]string] {
	if f == nil || slices.Contains(f.Tools.Value, "*") {
		return spec.Opt[[]string]{}
	}
	return f.Tools
}

// byTools returns the profile for an agent that belongs to none and has these tools.
func byTools(tools []string) (profile, why string) {
	for _, t := range tools {
		if edits(t) {
			return spec.ProfileWrite.String(), t
		}
	}
	return spec.ProfileReadOnly.String(), "nothing that writes"
}

func (c *Catalog) unknown(agent string, a Asked) error {
	p := &spec.Problem{On: agent, Do: "choose a profile", Why: "no profile has an agent of that name, and no .md file with tools was found for it"}
	if a.File != nil {
		p.On, p.Why = a.FileName, "no profile has an agent "+agent+", and the file's front matter has no tools"
		if a.File.Tools.Set {
			p.Why = "no profile has an agent " + agent + ", and * in the file's front matter is every tool there is, as without tools"
		}
	}
	var known []string
	for i := range c.Rows {
		for _, n := range c.Rows[i].Agents {
			known = append(known, n.Name)
		}
	}
	if meant := doc.Nearest(agent, append(known, c.pointNames()...)); meant != "" {
		p.Why += " (did you mean " + meant + "?)"
	}
	p.Help = "name it in a profile's agents in ~/.config/sbx/profiles.yaml, or give its .md file front matter with tools"
	return p
}

func (c *Catalog) pointNames() []string {
	var all []string
	for _, p := range c.Points {
		all = append(all, p.Name)
	}
	return all
}
