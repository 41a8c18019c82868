package agent

import "sbx/spec"

// Summary holds the data of an agent's stream. For fields that are not Set, Unseen has the
// reason.
type Summary struct {
	Name    string // claude, codex, gemini
	Version string // of the agent; "" if unknown
	Session string

	// Turns is the number of the model's answers, without those of sub-agents.
	Turns spec.Opt[int]
	// Tools is in the order of first use. codex's stream has types of items in place of
	// names, and mcp__SERVER__TOOL.
	Tools spec.Opt[[]Tool]
	// Called are codex's calls by the names of tools, from its rollout file.
	Called spec.Opt[[]Tool]
	// Shell is the number of calls of a shell tool that were not denied.
	Shell  spec.Opt[int]
	Tokens spec.Opt[Tokens]
	End    spec.Opt[End] // absent if the stream was cut off

	Unseen []Unseen
}

// Tool counts the calls of a tool. Asked - Ran - Refused is the number of calls without a
// result.
type Tool struct {
	Name    string
	Asked   int
	Ran     int
	Refused int // denied before they ran: by a rule, or because of a missing tool or invalid input
}

// Tokens is how many tokens the model read and wrote, as the agent counts them.
type Tokens struct {
	Input  int64 // all of it
	Cached int64 // the part of Input that came from a cache
	Output int64
}

// End is the end of the session as the stream reports it.
type End struct {
	Completed bool
	Reason    string // in the agent's terms: "max_turns", "api_error"
}

// Unseen is something that the stream does not contain.
type Unseen struct {
	What string // a key of the agent object, "lines", "refused" or "subagents"
	Why  string
}

// ToolsUsed returns the names of the tools that ran or may have run, for tools_used: all
// except those of which every call was denied.
func (s *Summary) ToolsUsed() spec.Opt[[]string] {
	if !s.Tools.Set {
		return spec.Opt[[]string]{}
	}
	names := make([]string, 0, len(s.Tools.Value))
	for _, t := range s.Tools.Value {
		if t.Asked == 0 || t.Refused < t.Asked {
			names = append(names, t.Name)
		}
	}
	return spec.Some(names)
}
