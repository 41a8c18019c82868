package spec

import "strings"

// agentNeed is what a known agent needs of its own to work at all.
type agentNeed struct {
	agent   Agent
	program string   // the last component of its command's name
	pass    []string // its own key and base-URL variables, which look like credentials
}

var agentNeeds = []agentNeed{
	{Claude, "claude", []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"}},
	{Codex, "codex", []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY"}},
	{Gemini, "gemini", []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"}},
}

// knownAgent tells which agent a command is by its name.
func knownAgent(command string) *agentNeed {
	name := command[strings.LastIndexByte(command, '/')+1:]
	for i := range agentNeeds {
		if agentNeeds[i].program == name {
			return &agentNeeds[i]
		}
	}
	return nil
}

// agent finds the command's agent. A document that says agent: none has none.
func (r *resolver) agent() {
	if r.spec.Agent.Set {
		return
	}
	if need := knownAgent(r.in.Command); need != nil {
		r.need, r.out.Agent = need, need.agent
	}
}
