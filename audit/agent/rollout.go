package agent

import (
	"strings"

	"sbx/spec"
)

// maxRollout is the longest line of a rollout file that is read, in bytes.
const maxRollout = 1 << 20

// Rollout reads codex's own record of a session, which it appends to while it
// runs: $CODEX_HOME/sessions/Y/M/D/rollout-TIME-THREAD.jsonl, THREAD being the
// stream's session. It names what the stream does not: model turns, the tools
// by their names, the version. Feed it what was written since the agent was
// started, in pieces as they come: a session that is resumed goes on in its old
// file. A sub-agent has a file of its own, which is not for this reader.
//
// A turn is what the model says up to the count of its tokens; it begins with
// the first thing that the model says. Of the hooks, Tool is called only for
// calls that the stream does not show as items.
type Rollout struct {
	lines lines
	tally tally
	take  func([]byte)

	cut     bool
	counted int64 // tokens of the session when the last turn was over
}

// NewRollout is a reader of a rollout file.
func NewRollout(h Hooks) *Rollout {
	r := &Rollout{lines: lines{limit: maxRollout}, tally: tally{hooks: h}}
	r.take = r.line
	return r
}

// Write reads the next bytes of the file. It takes them all and never fails.
func (r *Rollout) Write(p []byte) (int, error) {
	r.lines.write(p, r.take)
	return len(p), nil
}

// Cut says that the file went on and was not read to its end.
func (r *Rollout) Cut() { r.cut = true }

func (r *Rollout) line(b []byte) {
	c := cursor{b: b}
	readLine(&r.tally, &c, r.event)
}

func (r *Rollout) told() bool { return r.tally.events > 0 }

// into says what the file told.
func (r *Rollout) into(s *Summary) {
	t := &r.tally
	s.Turns = spec.Some(t.turns)
	if !s.Tokens.Set && t.metered {
		s.Tokens = spec.Some(t.tokens)
	}
	s.Called = spec.Some(append([]Tool{}, t.tools...))
	if s.Version = t.version; s.Version == "" {
		s.unseen("version", "the rollout file's first line was not read")
	}
	if r.cut {
		s.unseen("turns", "the rollout file was not read to its end")
	}
	s.unseenCount("turns", r.lines.skipped, "lines of the rollout file longer than 1 MiB and not read")
	s.unseenCount("turns", t.damaged, "lines of the rollout file that are not a JSON object and were not read")
}

func (r *Rollout) event(t *tally, c *cursor) bool {
	var kind, payload field
	if !c.enter('{') {
		return false
	}
	wanted := [...]member{{"type", &kind}, {"payload", &payload}}
	for first := true; !(kind.set && payload.set) && c.more('}', &first); {
		if c.take(c.key(), wanted[:]); kind.set && !rolloutKind(&kind) {
			return kind.str && !c.bad
		}
	}
	if c.bad || !kind.set {
		return false
	}
	p := payload.sub()
	switch {
	case kind.is("session_meta"):
		// A fork repeats the lines of what it was forked from.
		if f := p.fields("id", "cli_version"); t.session == "" {
			t.session, t.version = f[0].text(maxString), f[1].text(maxString)
		}
	case kind.is("token_usage_record"):
		t.speaking = false
	case kind.is("event_msg"):
		r.count(&p)
	default:
		r.item(&p)
	}
	return !p.bad
}

func rolloutKind(k *field) bool {
	return k.is("response_item") || k.is("event_msg") || k.is("session_meta") || k.is("token_usage_record")
}

// count ends a turn where its tokens are counted. The count is also repeated
// when limits of the service change, with the same total.
func (r *Rollout) count(p *cursor) {
	f := p.fields("type", "info")
	if !f[0].is("token_count") {
		return
	}
	info := f[1].sub()
	g := info.fields("total_token_usage")
	total := g[0].sub()
	h := total.fields("input_tokens", "cached_input_tokens", "output_tokens", "total_tokens")
	if n, ok := h[3].number(); ok && n != r.counted {
		r.counted = n
		r.tally.speaking = false
		r.tally.meter(&h)
	}
}

// item is what the model said, or what came of it.
func (r *Rollout) item(p *cursor) {
	t := &r.tally
	var kind, role, name, namespace, id, output field
	if !p.enter('{') {
		return
	}
	p.members([]member{{"type", &kind}, {"role", &role}, {"name", &name}, {"namespace", &namespace}, {"call_id", &id}, {"output", &output}})
	if p.bad {
		return
	}
	switch {
	case kind.is("message"):
		if role.is("assistant") {
			t.speak()
		}
	case kind.is("function_call"), kind.is("custom_tool_call"):
		t.speak()
		r.call(rolloutName(&namespace, &name), id.text(maxID))
	case kind.is("function_call_output"), kind.is("custom_tool_call_output"):
		t.answered(id.text(maxID), rolloutVerdict(t.calledBy(&id), &output))
	case kind.is("reasoning"), kind.is("local_shell_call"), kind.is("web_search_call"), kind.is("tool_search_call"), kind.is("image_generation_call"):
		t.speak()
	}
}

// rolloutName is a tool's name; one of a server has the server as its namespace.
func rolloutName(namespace, name *field) string {
	s := name.text(maxName)
	if space := namespace.text(maxName); strings.HasPrefix(space, "mcp__") && !strings.HasPrefix(s, "mcp__") {
		s = clipString(strings.TrimSuffix(space, "__")+"__"+s, maxName)
	}
	return s
}

func (r *Rollout) call(name, id string) {
	t := &r.tally
	as := claudeNames(spec.Codex, name)
	if as[0] == "Task" {
		t.subs = true
	}
	hook := t.hooks.Tool
	if as[0] == "Bash" || as[0] == "Edit" || as[0] == "WebSearch" || strings.HasPrefix(name, "mcp__") {
		t.hooks.Tool = nil // the stream has an item for it
	}
	t.asked(Wish{Name: name, ID: id, As: as, Cut: true}, false)
	t.hooks.Tool = hook
}

// rolloutVerdict tells a refusal by its words. What exec answers is of calls
// within its program; exec itself ran.
func rolloutVerdict(name string, output *field) verdict {
	if name == "exec" {
		return ran
	}
	head := output.text(maxHead)
	if strings.Contains(head, "rejected by user approval settings") || strings.HasPrefix(head, "unsupported call: ") {
		return refused
	}
	return ran
}
