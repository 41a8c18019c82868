package agent

import (
	"slices"
	"strings"
)

// readMessage reads the message of an event.
func (e *claudeLine) readMessage(c *cursor) {
	if e.message || !c.enter('{') {
		c.skip()
		return
	}
	e.message = true
	wanted := [...]member{{"id", &e.id}, {"model", &e.model}}
	for first := true; c.more('}', &first); {
		if k := c.key(); string(k) != "content" || e.content {
			c.take(k, wanted[:])
			continue
		}
		e.content = true
		e.readBlocks(c)
		if e.id.set && e.model.set {
			c.leave()
			return
		}
	}
}

// readPart reads a part of a message. It returns false unless that is the first one: it
// shows earlier than any other event that the message has begun.
func (e *claudeLine) readPart(c *cursor) bool {
	if !c.enter('{') {
		c.skip()
		return false
	}
	var kind, message field
	wanted := [...]member{{"type", &kind}, {"message", &message}}
	for first := true; c.more('}', &first); {
		if c.take(c.key(), wanted[:]); kind.set && !kind.is("message_start") {
			return false
		}
	}
	if c.bad || !kind.set {
		return false
	}
	f := message.fields("id", "model")
	e.begun, e.begunID, e.begunModel = true, f[0], f[1]
	return true
}

func (e *claudeLine) readBlocks(c *cursor) {
	if !c.enter('[') {
		c.skip()
		return
	}
	for first := true; c.more(']', &first); {
		if len(e.blocks) == maxBlocks {
			e.crowd++
			c.skip()
			continue
		}
		if c.space() != '{' {
			c.skip()
			continue
		}
		e.blocks = append(e.blocks, block{})
		e.blocks[len(e.blocks)-1].read(c)
	}
}

func (b *block) read(c *cursor) {
	c.enter('{')
	c.members([]member{{"type", &b.kind}, {"id", &b.id}, {"tool_use_id", &b.of}, {"name", &b.name}, {"input", &b.input},
		{"content", &b.content}, {"is_error", &b.failed}})
}

// claudeDecision returns the permission decision on a call, from the list in
// tool_result_meta; known is false if the list has none.
func claudeDecision(c cursor, id string) (decision string, known bool) {
	if !c.enter('[') {
		return "", false
	}
	for first := true; c.more(']', &first); {
		f := c.fields("id", "permission_decision")
		if f[0].text(maxID) != id {
			continue
		}
		d := f[1].fields("decision")
		return d[0].text(maxKey), d[0].str
	}
	return "", false
}

// maxHead is how many bytes at the beginning of a result are searched.
const maxHead = 400

// claudeTurnedAway reports whether an error is claude's own for a call that never ran: the
// tool is disabled, or its input is invalid.
func claudeTurnedAway(content *field) bool {
	head := content.text(maxHead)
	return slices.ContainsFunc([]string{"<tool_use_error>", "denied by your permission", "Read deny rule"}, func(words string) bool { return strings.Contains(head, words) })
}
