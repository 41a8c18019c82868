// Package agent reads what a coding agent reports about itself: the JSON stream that
// claude, codex and gemini write to their standard output, and the rollout file that
// codex writes in addition.
//
//	s, ok := agent.New(spec.Claude, agent.Hooks{Turn: …, Tool: …})
//	s.Write(chunk) // every chunk that passes through, cut anywhere
//	s.Close()
//	sum := s.Summary()
//
// The package turns bytes into a Summary. It starts no program, opens no file, reads no
// clock and changes no byte of the stream. The caller forwards the stream, and ends the
// agent when a hook shows that it exceeded a limit. The caller should forward each chunk
// before it passes it to Write; a pipe of 1 MiB (F_SETPIPE_SZ) lets the agent continue
// to write meanwhile.
//
// A stream is a claim by the agent, not an observation. Every line of the standard output
// that has the form of an event counts as one, whichever program wrote it; text inside an
// event never does. Invariants:
//
//   - The result does not depend on how the bytes are cut into chunks.
//   - Memory is bounded for any input (lines.go, tally.go). Data beyond the bounds is left
//     out and listed in Summary.Unseen, never guessed.
//   - A line is read only as far as necessary, which is a few bytes of most lines. If a
//     key occurs twice the first one counts, so the rest of the line cannot change the
//     result. The rest is not checked.
//   - A number that the stream does not contain is absent, never 0.
//
// A turn is one answer of the model, however many events report it. An error message of
// the service is not a turn. Turns of sub-agents are not counted. Hooks.Turn is called at
// the first event of a turn: a caller that allows N turns ends the agent when it is called
// with N+1. The model has answered by then, and tool calls of that answer may have started.
//
// A tool call is a Wish until its result shows that it ran. Each agent has a file
// (claude.go, codex.go with rollout.go, gemini.go) and a row in stream.go.
package agent
