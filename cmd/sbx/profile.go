package main

import (
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/spec/agent"
	"sbx/spec/profile"
)

// runProfile implements `sbx profile`.
func runProfile(c *call) int {
	words := map[string]int{"list": 1, "show": 2, "flags": 2}
	if len(c.rest) == 1 && c.rest[0] == "flags" && c.has("point") {
		c.rest = append(c.rest, "") // no agent is named
	}
	if len(c.rest) == 0 || words[c.rest[0]] != len(c.rest) || len(c.rest) == 2 && c.rest[1] == "" && c.value("point") == "" {
		return c.std.misused("profile: want list, show NAME or flags AGENT")
	}
	p, err := c.profiles()
	if err == nil {
		switch c.rest[0] {
		case "list":
			err = p.list()
		case "show":
			err = p.show(c.rest[1])
		case "flags":
			err = p.flags(c.rest[1])
		}
	}
	if err != nil {
		return c.std.failed(err)
	}
	return exitOK
}

// profiles is one use of the command: the project, and for whom profiles are looked up.
type profiles struct {
	*call
	env     profile.Env
	project string
	agent   spec.Agent
}

func (c *call) profiles() (*profiles, error) {
	a := spec.Claude
	if name := c.value("agent"); c.has("agent") {
		if a, _ = spec.ParseAgent(name); a == 0 || a == spec.NoAgent {
			return nil, usageError("profile: --agent wants claude, codex or gemini, not " + spec.Word(name))
		}
	}
	cwd, err := currentDir()
	if err != nil {
		return nil, err
	}
	abs, _, err := profile.ProjectDir(c.value("project"), cwd, spec.HostPaths{})
	if err != nil {
		return nil, err
	}
	return &profiles{call: c, project: abs, agent: a,
		env: profile.Env{Home: c.home(), Config: sys.Variable(c.environ, "XDG_CONFIG_HOME"), Project: abs, Reader: profile.Read,
			In: c.inputs(cwd)}}, nil
}

func (p *profiles) list() error {
	catalog, err := profile.Load(p.env)
	if err != nil {
		return err
	}
	p.printForm(catalog)
	return nil
}

func (p *profiles) show(name string) error {
	catalog, err := profile.Load(p.env)
	if err != nil {
		return err
	}
	row, err := catalog.Find(name)
	if err != nil {
		return err
	}
	found, err := row.Prepare(p.project, spec.HostPaths{}, profile.Host{}, profile.LeaveOut)
	if err != nil {
		return err
	}
	get := func(name string) string { return sys.Variable(p.environ, name) }
	p.printForm(catalog.View(row, p.project, agent.Needs(p.agent, p.home(), get, spec.HostPaths{}), found))
	return nil
}

// printForm prints v in the form that was asked for.
func (p *profiles) printForm(v interface {
	JSON() string
	Text() string
}) {
	if p.has("json") {
		p.std.print(v.JSON())
	} else {
		p.std.print(v.Text())
	}
}

func (p *profiles) flags(name string) error {
	debug := profile.ReadSwitch(sys.Variable(p.environ, profile.SwitchName))
	if debug.Note != "" {
		p.std.say(debug.Note)
	}
	if debug.Off {
		p.printFlags(agent.Bypass(p.agent))
		return nil
	}
	catalog, err := profile.Load(p.env)
	if err != nil {
		return err
	}
	asked, err := p.env.Asked(name, p.value("point"))
	if err != nil {
		return err
	}
	choice, err := catalog.Choose(asked)
	if err != nil {
		return err
	}
	if p.has("v") {
		for _, why := range choice.Why {
			p.std.say(why)
		}
	}
	ask := choice.Ask(p.project)
	if p.has("inside") {
		ask.Inside = true
	}
	ask.Servers = p.serversAt(p.project)
	flags := choice.Flags(p.agent, ask)
	for _, w := range choice.Warnings(p.agent, flags) {
		p.std.say(w)
	}
	p.printFlags(flags.Args)
	return nil
}

func (p *profiles) printFlags(args []string) {
	if p.has("json") {
		p.std.print(profile.ListJSON(args))
	} else {
		p.std.print(profile.Line(args) + "\n")
	}
}
