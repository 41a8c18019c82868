package agent

import "sbx/spec"

// Summary is what an agent's stream said. What is not Set was not told, and
// Unseen says why.
type Summary struct {
	Name    string // claude, codex, gemini
	Version string // of the agent; "" where nobody told
	Session string

	// Turns is the model's answers, those of sub-agents not included.
	Turns spec.Opt[int]
	// Tools is in the order of first use. codex's are the types of the items in
	// its stream, and mcp__SERVER__TOOL.
	Tools spec.Opt[[]Tool]
	// Called is codex's calls by the names of its tools, from its rollout file.
	Called spec.Opt[[]Tool]
	// Shell is the calls of a shell tool that were not refused.
	Shell  spec.Opt[int]
	Tokens spec.Opt[Tokens]
	End    spec.Opt[End] // absent where the stream was cut off

	Unseen []Unseen
}

// Tool is how often a tool was called. Asked less Ran less Refused is the calls
// whose result was never seen.
type Tool struct {
	Name    string
	Asked   int
	Ran     int
	Refused int // turned away before they ran: by a rule, for want of the tool, for their input
}

// Tokens is what the model read and wrote, as the agent counts.
type Tokens struct {
	Input  int64 // all of it
	Cached int64 // the part of Input that came from a cache
	Output int64
}

// End is the stream's own last word.
type End struct {
	Completed bool
	Reason    string // the agent's word for it: "max_turns", "api_error"
}

// Unseen is something that a stream could not tell.
type Unseen struct {
	What string // a key of the agent object, "lines", "refused" or "subagents"
	Why  string
}

// ToolsUsed is the names of the tools that ran or may have, for tools_used: a tool that
// was refused each time was not used.
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
