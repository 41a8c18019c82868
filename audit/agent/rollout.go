package agent

import (
	"strings"

	"sbx/spec"
)

// maxRollout is the longest line of a rollout file that is read, in bytes.
const maxRollout = 1 << 20

// Rollout reads codex's own record of a session, a file that codex appends to while it
// runs: $CODEX_HOME/sessions/Y/M/D/rollout-TIME-THREAD.jsonl, where THREAD is the stream's
// session. The file has what the stream lacks: model turns, the names of tools, the
// version. Write it only the part of the file that was appended since the agent started:
// a resumed session continues its old file. A sub-agent has a file of its own, which must
// not be written to the same Rollout.
//
// A turn begins with the first output of the model and ends with a count of tokens.
// Hooks.Tool is called only for calls that the stream does not show as items.
type Rollout struct {
	lines Lines
	tally tally
	take  func([]byte)

	cut     bool
	counted int64 // the session's tokens at the end of the last turn
}

// NewRollout returns a reader of a rollout file.
func NewRollout(h Hooks) *Rollout {
	r := &Rollout{lines: Lines{Limit: maxRollout}, tally: tally{hooks: h}}
	r.take = r.line
	return r
}

// Write reads the next bytes of the file. It never fails.
func (r *Rollout) Write(p []byte) (int, error) {
	r.lines.Cut(p, r.take)
	return len(p), nil
}

// Cut records that the caller did not read the file to its end.
func (r *Rollout) Cut() { r.cut = true }

func (r *Rollout) line(b []byte) {
	c := cursor{b: b}
	readLine(&r.tally, &c, r.event)
}

func (r *Rollout) hasEvents() bool { return r.tally.events > 0 }

// fill copies the counts of the file into s.
func (r *Rollout) fill(s *Summary) {
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
		// A forked session repeats the lines of the original; only the first line counts.
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

// count ends a turn at the count of its tokens. codex repeats the count with the same
// total when the service's limits change.
func (r *Rollout) count(p *cursor) {
	f := p.fields("type", "info")
	if !f[0].is("token_count") {
		return
	}
	f = f[1].fields("total_token_usage")
	f = f[0].fields("input_tokens", "cached_input_tokens", "output_tokens", "total_tokens")
	if n, ok := f[3].number(); ok && n != r.counted {
		r.counted = n
		r.tally.speaking = false
		r.tally.meter(&f)
	}
}

// item counts an output of the model or the result of a call.
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

// rolloutName returns a tool's name; the namespace of a server's tool is the server.
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

// rolloutVerdict recognises a denied call by the text of its output. The output of exec is
// about calls inside its program; exec itself ran.
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
