package main

import (
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/spec/agent"
)

// confine finds the restrictions that the caller's flags put on the agent's own sandbox,
// which sbx replaces, and returns them as a document that narrows the others; nil for
// none.
func (c *agentCommand) confine(r *spec.Resolved, inside bool) *spec.SandboxSpec {
	a := c.agent.Agent
	if a == 0 || !r.AccessMode.Guards() {
		return nil
	}
	c.confined = agent.ConfinedBy(a, c.agentPlace(c.environ, c.home(), r.Start(), agent.ReadArgs(a, c.agent.Args(c.rest))))
	own := &spec.SandboxSpec{Source: spec.Source{Name: a.String() + " " + c.confined.By, Dir: r.Start(), Kind: spec.AgentOptions}}
	git := r.WorkingDir.Abs + "/.git"
	switch {
	case c.confined.ReadOnly:
		own.Readonly = spec.Some(true)
	case !c.confined.NoGit:
		return nil
	case r.ReadOnly, !sys.Exists(git): // if it does not exist, it cannot be created either
		c.confined.NoGit = false
		return nil
	case inside || r.Root.Abs != "" || r.Job != nil || r.Spec.Filesystem.Value.Mounts.Set: // where no further mount is possible
		return nil
	default:
		own.Filesystem = spec.Some(spec.Filesystem{Mounts: spec.Some([]spec.Mount{{Label: "git", Source: git, Target: git, Mode: spec.MountRO}})})
		c.confined.NoGit = false
	}
	return own
}
