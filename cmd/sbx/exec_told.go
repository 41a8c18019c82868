package main

import (
	"slices"
	"strconv"
	"strings"

	"sbx/internal/sys"
	"sbx/spec"
	"sbx/spec/agent"
)

// tellAgent prints, on one line, what the agent gets that other commands do not, and what
// its user should know.
func (x *execution) tellAgent() {
	r := x.Resolved
	if x.agent.Agent == 0 || r.Agent == 0 || !r.AccessMode.Guards() && !r.AgentNetwork || x.Voice.Quiet {
		return
	}
	var gets []string
	if r.AgentNetwork && len(r.Reach) > 0 {
		first := "the network of " + strings.TrimSuffix(r.Reach[0].Text, ":443")
		if more := len(r.Reach) - 1; more > 0 {
			first += " and " + strconv.Itoa(more) + " more"
		}
		gets = append(gets, first)
	}
	gets = append(gets, x.Seen.Opened...)
	gets = append(gets, x.agentDirs()...)
	if n := len(gets) - 1; n > 0 {
		gets = []string{strings.Join(gets[:n], ", ") + " and " + gets[n]}
	}
	if len(gets) > 0 {
		x.std.say(r.Agent.String() + " gets " + spec.Shown(gets[0]))
	}
	if !x.prepared.Plan.Agent.Layer {
		return
	}
	args := x.agent.Args(x.Argv)
	at := x.agentPlace(r.Env, x.home(), r.Start(), agent.ReadArgs(r.Agent, args))
	for _, line := range agent.Advice(r.Agent, at, args, sys.IsTerminal(x.std.in) && sys.IsTerminal(x.std.out)) {
		x.std.say(line)
	}
}

// agentDirs returns the directories of the host in which the agent keeps its state: in
// the home directory, or where its state was moved.
func (x *execution) agentDirs() (all []string) {
	home := x.home() + "/"
	for _, name := range x.prepared.Plan.Agent.Writes {
		if rest, ok := strings.CutPrefix(name, home); ok {
			first, _, _ := strings.Cut(rest, "/")
			name = "~/" + first
		}
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
