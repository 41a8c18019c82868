package agent

import "sbx/spec"

// claude's stream (--output-format stream-json --verbose): one message of the
// model is several events, one a block of its content, all with the same id. A
// sub-agent's events are in it with the call that made it as their parent. An
// error of the service is shown as a message of the model <synthetic>.

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

// maxBlocks is how many blocks of one message are looked at.
const maxBlocks = 1024

// claudeLine is what is looked for in an event.
type claudeLine struct {
	kind, subtype, session, parent field
	call                           field // tool_use_id, of a refusal
	event                          field // where it stands before type
	begun                          bool  // an event says that a message has
	begunID, begunModel            field

	message   bool // seen
	content   bool // the message's was
	id, model field
	blocks    []block
	crowd     int // blocks beyond maxBlocks

	meta, version                                field
	failed, terminal, denials, models, usageInfo field
}

// claudeTargets is what a pattern is held against, by the member of a call's
// input that has it.
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
			// Parts of a message as they come: the bulk of a stream that has them.
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
	clear(e.blocks) // they point into what was written
	return known
}

// enough tells whether the rest of the line could say nothing more: results of
// calls that all ran, or more text of a message that is known.
func (e *claudeLine) enough(t *tally) bool {
	switch {
	case e.kind.is("user"):
		for i := range e.blocks {
			if e.blocks[i].failed.yes() {
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

// act takes what was read into account.
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

// begins takes a message into account, the first time that it is told; false
// for one that no model wrote.
func (e *claudeLine) begins(t *tally, id, model *field) bool {
	if model.is("<synthetic>") {
		return false
	}
	if id.str && t.recent.add(id.bytes()) && e.parent.null() {
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
		w := Wish{Name: name, ID: b.id.text(maxID), Sub: !e.parent.null(), As: claudeNames(spec.Claude, name)}
		w.Targets, w.Cut = claudeTargets.of(name, &b.input)
		t.asked(w, name == "Bash")
	}
}

// results takes the results of calls. One that ran and failed is an error too:
// what tells a refusal is the decision beside it or, for what never came to a
// decision, the words in which claude wraps its own errors.
func (e *claudeLine) results(t *tally) {
	for i := range e.blocks {
		b := &e.blocks[i]
		if !b.kind.is("tool_result") {
			continue
		}
		id := b.of.text(maxID)
		v := ran
		if b.failed.yes() {
			decision, known := claudeDecision(e.meta.sub(), id)
			if known && decision != "accept" || !known && claudeTurnedAway(&b.content) {
				v = refused
			}
		}
		t.answered(id, v)
	}
}

// result is the last word. subtype is "success" for an error of the service
// too, and num_turns is not the number of turns.
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
	if !e.failed.yes() && e.subtype.is("success") && (reason == "completed" || reason == "success") {
		t.over(true, "")
		return
	}
	t.over(false, reason)
}

// tokens are those of all models, which sub-agents used too.
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
