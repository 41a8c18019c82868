package agent

import "sbx/spec"

// In claude's stream (--output-format stream-json --verbose) one message of the model is
// several events with the same message id, one for each block of its content. The events
// of a sub-agent name the tool call that started it as their parent. An error of the
// service appears as a message of the model <synthetic>.

// block is a block of a message's content.
type block struct {
	kind    field
	id      field // of tool_use
	of      field // tool_use_id, of tool_result
	name    field
	input   field
	content field
	failed  field // is_error
}

// maxBlocks is how many blocks of one message are read.
const maxBlocks = 1024

// claudeLine holds the members of an event that matter.
type claudeLine struct {
	kind, subtype, session, parent field
	call                           field // tool_use_id, of a denial
	event                          field // set only if it precedes type
	begun                          bool  // the event reports that a message has begun
	begunID, begunModel            field // of that message

	message   bool // the message was read
	content   bool // the content of the message was read
	id, model field
	blocks    []block
	crowd     int // the number of blocks beyond maxBlocks

	meta, version                                field
	failed, terminal, denials, models, usageInfo field
}

// claudeTargets names the member of a call's input that patterns are matched against, by
// tool.
var claudeTargets = targets{
	{"Bash", "command"}, {"Monitor", "command"},
	{"Read", "file_path"}, {"Edit", "file_path"}, {"MultiEdit", "file_path"}, {"Write", "file_path"},
	{"NotebookEdit", "notebook_path"}, {"Grep", "path"}, {"Glob", "path"}, {"LS", "path"},
	{"WebFetch", "url"}, {"WebSearch", "query"},
	{"Task", "subagent_type"}, {"Agent", "subagent_type"}, {"Skill", "skill"},
}

func claudeEvent(t *tally, c *cursor) bool {
	e := claudeLine{blocks: t.blocks[:0]}
	if !c.enter('{') {
		return false
	}
	wanted := [...]member{{"type", &e.kind}, {"subtype", &e.subtype}, {"session_id", &e.session}, {"tool_use_id", &e.call},
		{"parent_tool_use_id", &e.parent}, {"tool_result_meta", &e.meta}, {"claude_code_version", &e.version}, {"is_error", &e.failed},
		{"terminal_reason", &e.terminal}, {"permission_denials", &e.denials}, {"modelUsage", &e.models}, {"usage", &e.usageInfo}}
	for first := true; c.more('}', &first); {
		k := c.key()
		switch string(k) {
		case "message":
			e.readMessage(c)
		case "event":
			// Parts of a message, which are most of a stream that has them.
			if !e.kind.set {
				e.event.read(c)
			} else if !e.kind.is("stream_event") || e.event.set || e.begun {
				c.skip()
			} else if !e.readPart(c) {
				return !c.bad
			}
		default:
			c.take(k, wanted[:])
		}
		if e.message && e.enough(t) {
			break
		}
	}
	t.blocks = e.blocks
	t.omitted += e.crowd
	if c.bad {
		return false
	}
	if e.event.set && e.kind.is("stream_event") {
		part := e.event.sub()
		e.readPart(&part)
	}
	known := e.act(t)
	clear(e.blocks) // they point into the line, which is valid only during this call
	return known
}

// enough reports whether the rest of the line cannot matter: all its results are of calls
// that ran, or it has only more text of a message that is counted already.
func (e *claudeLine) enough(t *tally) bool {
	switch {
	case e.kind.is("user"):
		for i := range e.blocks {
			if e.blocks[i].failed.isTrue() {
				return false
			}
		}
		return true
	case e.kind.is("assistant"):
		for i := range e.blocks {
			if e.blocks[i].kind.is("tool_use") {
				return false
			}
		}
		return e.parent.set || e.id.str && !e.id.escaped && hash(e.id.b) == t.recent.last
	}
	return false
}

// act counts the event. It returns false if its type is unknown.
func (e *claudeLine) act(t *tally) bool {
	if t.session == "" {
		t.session = e.session.text(maxString)
	}
	switch {
	case e.kind.is("assistant"):
		if e.message {
			e.assistant(t)
		}
	case e.kind.is("stream_event"):
		if e.begun {
			e.begins(t, &e.begunID, &e.begunModel)
		}
	case e.kind.is("user"):
		e.results(t)
	case e.kind.is("system"):
		switch {
		case e.subtype.is("init"):
			t.version = e.version.text(maxString)
		case e.subtype.is("permission_denied"):
			t.answered(e.call.text(maxID), refused)
		}
	case e.kind.is("result"):
		e.result(t)
	default:
		return false
	}
	return true
}

// begins counts a message at its first event. It returns false if no model wrote it.
func (e *claudeLine) begins(t *tally, id, model *field) bool {
	if model.is("<synthetic>") {
		return false
	}
	if id.str && t.recent.add(id.bytes()) && e.parent.isNull() {
		t.turn()
	}
	return true
}

func (e *claudeLine) assistant(t *tally) {
	if !e.begins(t, &e.id, &e.model) {
		return
	}
	for i := range e.blocks {
		b := &e.blocks[i]
		if !b.kind.is("tool_use") {
			continue
		}
		name := b.name.text(maxName)
		w := Wish{Name: name, ID: b.id.text(maxID), As: claudeNames(spec.Claude, name)}
		w.Targets, w.Cut = claudeTargets.of(name, &b.input)
		t.asked(w, name == "Bash")
	}
}

// results counts the results of calls. is_error is set both for a call that was denied and
// for one that ran and failed. A denied call is recognised by the permission decision in
// tool_result_meta or, without a decision, by the text of claude's own errors.
func (e *claudeLine) results(t *tally) {
	for i := range e.blocks {
		b := &e.blocks[i]
		if !b.kind.is("tool_result") {
			continue
		}
		id := b.of.text(maxID)
		v := ran
		if b.failed.isTrue() {
			decision, known := claudeDecision(e.meta.sub(), id)
			if known && decision != "accept" || !known && claudeTurnedAway(&b.content) {
				v = refused
			}
		}
		t.answered(id, v)
	}
}

// result counts the last event of the stream. Its subtype is "success" even for an error
// of the service, and its num_turns is not the number of turns.
func (e *claudeLine) result(t *tally) {
	c := e.denials.sub()
	if c.enter('[') {
		for first := true; c.more(']', &first); {
			d := c.fields("tool_use_id")
			t.answered(d[0].text(maxID), refused)
		}
	}
	e.tokens(t)
	reason := e.terminal.text(maxString)
	if reason == "" {
		reason = e.subtype.text(maxString)
	}
	if !e.failed.isTrue() && e.subtype.is("success") && (reason == "completed" || reason == "success") {
		t.over(true, "")
		return
	}
	t.over(false, reason)
}

// tokens counts the tokens of all models, including those of sub-agents.
func (e *claudeLine) tokens(t *tally) {
	var sum Tokens
	add := func(c *cursor, input, cached, made, output string) bool {
		f := c.fields(input, cached, made, output)
		in, ok := f[0].number()
		out, ok2 := f[3].number()
		if !ok || !ok2 {
			return false
		}
		hit, _ := f[1].number()
		fresh, _ := f[2].number()
		sum.Input += in + hit + fresh
		sum.Cached += hit
		sum.Output += out
		return true
	}
	c := e.models.sub()
	some := false
	if c.enter('{') {
		for first := true; c.more('}', &first); {
			c.key()
			some = add(&c, "inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens") || some
		}
	}
	if !some {
		c = e.usageInfo.sub()
		some = add(&c, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
	}
	if some {
		t.tokens, t.metered = sum, true
	}
}

func claudeUnseen(*tally, *Rollout, *Summary) {}
