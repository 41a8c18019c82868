package agent

import (
	"strconv"

	"sbx/spec"
)

// dialect is the format of one agent's stream.
type dialect struct {
	agent spec.Agent
	// event reads one line, which begins with '{', and reports whether it is an event of
	// this agent.
	event func(t *tally, c *cursor) bool
	// unseen adds to Summary.Unseen what this agent's stream never contains.
	unseen func(t *tally, r *Rollout, s *Summary)
	// turns is set if model turns can be counted from the stream.
	turns bool
}

// dialects has a row for each agent.
var dialects = []dialect{
	{spec.Claude, claudeEvent, claudeUnseen, true},
	{spec.Codex, codexEvent, codexUnseen, false},
	{spec.Gemini, geminiEvent, geminiUnseen, true},
}

// Stream reads one agent's stream. It must not be used by several goroutines at once.
type Stream struct {
	dialect *dialect
	lines   Lines
	tally   tally
	rollout *Rollout
	cursor  cursor
	take    func([]byte)
}

// New returns a reader of a's stream; ok is false if its format is unknown.
func New(a spec.Agent, h Hooks) (*Stream, bool) {
	for i := range dialects {
		if d := &dialects[i]; d.agent == a {
			s := &Stream{dialect: d, lines: Lines{Limit: maxLine}, tally: tally{hooks: h}}
			s.take = s.line
			return s, true
		}
	}
	return nil, false
}

// Write reads the next bytes of the stream. It never fails and does not retain p.
func (s *Stream) Write(p []byte) (int, error) {
	s.lines.Cut(p, s.take)
	return len(p), nil
}

// Close reads a last line that has no newline. Write must not be called after it.
func (s *Stream) Close() error {
	s.lines.End(s.take)
	return nil
}

// Session returns the agent's id of its session; "" as long as the stream has not named it.
func (s *Stream) Session() string { return s.tally.session }

// Supplement adds r, codex's rollout file, for data that the stream lacks.
func (s *Stream) Supplement(r *Rollout) { s.rollout = r }

func (s *Stream) line(b []byte) {
	s.cursor = cursor{b: b}
	readLine(&s.tally, &s.cursor, s.dialect.event)
}

// readLine calls event with a line that is an object. Other lines are output of other
// programs.
func readLine(t *tally, c *cursor, event func(*tally, *cursor) bool) {
	b := c.b
	for len(b) > 0 && (b[len(b)-1] == '\r' || b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	c.b = b
	if c.space() != '{' {
		return
	}
	// event may not read to the end, and so would not notice that a line is cut off.
	if b[len(b)-1] != '}' {
		t.damaged++
		return
	}
	switch isEvent := event(t, c); {
	case c.bad:
		t.damaged++
	case isEvent:
		t.events++
	}
}

// Summary returns the counts so far. Call it after Close for those of the whole stream.
func (s *Stream) Summary() Summary {
	t := &s.tally
	sum := Summary{Name: s.dialect.agent.String(), Version: t.version, Session: t.session}
	if t.events == 0 {
		sum.unseen("stream", "no event was read: was the agent asked for a JSON stream?")
		s.unseenLines(&sum)
		return sum
	}
	if s.dialect.turns {
		sum.Turns = spec.Some(t.turns)
	}
	sum.Tools = spec.Some(append([]Tool{}, t.tools...))
	sum.Shell = spec.Some(t.shell)
	if t.metered {
		sum.Tokens = spec.Some(t.tokens)
	}
	if t.ended {
		sum.End = spec.Some(t.end)
	} else {
		sum.unseen("end", "the stream was cut off before its last event")
	}
	s.dialect.unseen(t, s.rollout, &sum)
	if !sum.Tokens.Set {
		sum.unseen("tokens", "the stream ends without a count of them")
	}
	s.unseenLines(&sum)
	return sum
}

// unseenLines adds the numbers of lines and calls that were too many, too long or damaged.
func (s *Stream) unseenLines(sum *Summary) {
	t := &s.tally
	sum.unseenCount("lines", s.lines.skipped, "longer than 4 MiB and not read")
	sum.unseenCount("lines", t.damaged, "not a whole JSON object and not read")
	sum.unseenCount("tools", t.omitted, "calls or blocks that are in no line: beyond "+strconv.Itoa(maxTools)+" tools, or "+strconv.Itoa(maxBlocks)+" blocks of one message")
	sum.unseenCount("tools", t.evicted, "calls whose result would not be known: without an id, or too many at once")
}

func (s *Summary) unseen(what, why string) {
	s.Unseen = append(s.Unseen, Unseen{What: what, Why: why})
}

func (s *Summary) unseenCount(what string, n int, why string) {
	if n > 0 {
		s.unseen(what, strconv.Itoa(n)+" "+why)
	}
}
