// Package agent reads what a coding agent says of itself: the JSON stream that
// claude, codex and gemini write to their standard output, and the rollout file
// that codex keeps beside it.
//
//	s, ok := agent.New(spec.Claude, agent.Hooks{Turn: …, Tool: …})
//	s.Write(chunk) // every chunk that passes through, cut anywhere
//	s.Close()
//	sum := s.Summary()
//
// It is fed bytes and gives a value. It starts nothing, opens nothing, asks no
// time and changes no byte: passing the stream on is the caller's, and so is
// ending the agent where a hook says that it went too far. A caller passes a
// chunk on before it is read here; a pipe of 1 MiB (F_SETPIPE_SZ) lets the agent
// go on writing meanwhile.
//
// A stream is the agent's word, not an observation. Any line of the standard
// output that has the form of an event counts as one, whoever wrote it; text
// inside an event never does. What always holds:
//
//   - How the bytes are cut into chunks changes nothing.
//   - Memory is bounded whatever comes (lines.go, tally.go): what does not fit
//     is left out and named in Summary.Unseen, never guessed.
//   - A line is read only as far as it matters: of most lines that is their
//     first few bytes. Of a key that stands twice the first counts, so that
//     reading on could not change the verdict. What is not read is not checked.
//   - A number that the stream does not tell is absent, never 0.
//
// A turn is one answer of the model, by whatever number of events it is told;
// an answer that is an error of the service is none. Turns of sub-agents are
// not counted. Hooks.Turn is called as the first sign of a turn is read: N turns
// are allowed by ending the agent when it is called with N+1. By then the model
// has answered: what that answer asks for may have begun.
//
// A tool call is a wish until its result says that it ran. Files: one an agent
// (claude.go, codex.go with rollout.go, gemini.go), a row each in stream.go.
package agent
