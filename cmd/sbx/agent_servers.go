package main

import (
	"strings"

	"sbx/internal/sys"
	"sbx/spec/agent"
	"sbx/spec/profile"
)

// findServers returns the MCP servers in the agent's own configuration, as the agent will
// find it with the environment inside and the changes of an env command in front of it.
func (x *execution) findServers(typed agent.Typed) *agent.Servers {
	environ := x.Resolved.Env
front:
	for _, word := range x.rest[:x.agent.At] {
		switch name := word[strings.LastIndexByte(word, '/')+1:]; {
		case strings.HasPrefix(word, "-"):
			return &agent.Servers{Unsure: "env " + word + " in front of it may change what it reads"}
		case strings.Contains(word, "="):
			environ = append([]string{word}, environ...)
		case name != "env":
			break front // the arguments from here on are not env's
		}
	}
	home := sys.Variable(environ, "HOME")
	if !strings.HasPrefix(home, "/") {
		home = x.home()
	}
	return agent.FindServers(x.agent.Agent, x.agentPlace(environ, home, x.Resolved.Start(), typed))
}

// serversAt returns the same for flags that are printed, for a start in dir.
func (p *profiles) serversAt(dir string) *agent.Servers {
	if dir == "" {
		dir = p.env.In.Cwd
	}
	return agent.FindServers(p.agent, agent.Place{Home: p.home(), Start: dir,
		Get:  func(name string) string { return sys.Variable(p.environ, name) },
		Read: profile.Read, There: sys.Exists})
}
