package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sbx/spec"
)

// dice makes events that look like an agent's: known keys in any order and at any depth, sometimes
// with odd values, escapes and white space.
type dice struct{ *rand.Rand }

func (d dice) of(words ...string) string { return words[d.IntN(len(words))] }

// object writes members in a random order, and sometimes leaves out some.
func (d dice) object(pairs ...string) string {
	var members []string
	for i := 0; i < len(pairs); i += 2 {
		if d.IntN(12) > 0 {
			members = append(members, d.quoted(pairs[i])+d.of("", " ", "\t")+":"+d.of("", " ")+pairs[i+1])
		}
	}
	if d.IntN(4) == 0 {
		members = append(members, `"more":`+d.junk(0))
	}
	d.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + strings.Join(members, ","+d.of("", " ")) + d.of("", " ") + "}"
}

// quoted returns a JSON string, sometimes with unnecessary escapes.
func (d dice) quoted(s string) string {
	b, _ := json.Marshal(s)
	if s == "" || d.IntN(10) > 0 {
		return string(b)
	}
	at := d.IntN(len(s))
	if s[at] < 0x20 || s[at] > 0x7e {
		return string(b)
	}
	return `"` + inner(s[:at]) + fmt.Sprintf(`\u%04x`, s[at]) + inner(s[at+1:]) + `"`
}

func inner(s string) string {
	b, _ := json.Marshal(s)
	return string(b[1 : len(b)-1])
}

// junk returns any value, which may look like the expected one.
func (d dice) junk(depth int) string {
	switch d.IntN(9) {
	case 0:
		return "null"
	case 1:
		return "true"
	case 2:
		return d.of("0", "-1.5e9", "12345678901234567890", "7")
	case 3:
		return d.quoted(`{"type":"tool_use","name":"Bash"}` + d.of("\\", "\n", "\"", "\\\\\"", "é"))
	case 4:
		if depth > 4 {
			return "[]"
		}
		return "[" + d.junk(depth+1) + "," + d.junk(depth+1) + "]"
	case 5:
		if depth > 4 {
			return "{}"
		}
		return d.object("type", d.quoted("tool_use"), "id", d.id(), "name", d.junk(depth+1), "message", d.junk(depth+1))
	}
	return d.quoted(d.of("tool_use", "assistant", "x", ""))
}

// value returns the given value or, rarely, junk.
func (d dice) value(s string) string {
	if d.IntN(25) == 0 {
		return d.junk(0)
	}
	return s
}

func (d dice) id() string { return d.value(d.quoted(d.of("a", "b", "c", "d", "e", "f", "g"))) }

func (d dice) claude() string {
	parent := d.of("null", "null", `"t"`)
	switch d.IntN(8) {
	case 0, 1, 2:
		var blocks []string
		for range d.IntN(4) {
			blocks = append(blocks, d.value(d.object("type", d.value(d.quoted(d.of("text", "tool_use", "tool_use"))), "id", d.id(), "name", d.value(d.quoted(d.of("Bash", "Read"))), "input", d.junk(0), "text", d.junk(0))))
		}
		content := "[" + strings.Join(blocks, ",") + "]"
		return d.object("type", `"assistant"`, "message", d.value(d.object("id", d.id(), "model", d.of(`"m"`, `"<synthetic>"`, `"m"`), "content", d.value(content))), "parent_tool_use_id", parent)
	case 3, 4:
		id := d.of(`"a"`, `"b"`, `"c"`)
		block := d.object("type", `"tool_result"`, "tool_use_id", id, "is_error", d.value(d.of("true", "false")), "content", d.value(d.quoted(d.of("<tool_use_error>", "Exit code 1", "denied by your permission"))))
		meta := "[" + d.object("id", id, "permission_decision", d.value(d.object("decision", d.of(`"accept"`, `"reject"`)))) + "]"
		return d.object("type", `"user"`, "message", d.object("content", "["+block+"]"), "tool_result_meta", d.value(meta), "parent_tool_use_id", parent)
	case 5:
		return d.object("type", `"stream_event"`, "message", d.object("id", d.id()), "event", d.object("type", d.of(`"message_start"`, `"content_block_delta"`), "message", d.object("id", d.id(), "content", "[]")), "parent_tool_use_id", parent)
	case 6:
		return d.object("type", `"system"`, "subtype", d.of(`"init"`, `"permission_denied"`), "tool_use_id", d.id())
	}
	return d.object("type", `"result"`, "is_error", "false", "permission_denials", d.value("["+d.object("tool_use_id", d.id())+"]"))
}

func (d dice) codex() string {
	return d.object("type", d.value(d.quoted(d.of("item.started", "item.completed", "turn.started", "error"))),
		"item", d.value(d.object("id", d.id(), "type", d.value(d.quoted(d.of("command_execution", "agent_message", "todo_list", "mcp_tool_call", "file_change"))),
			"server", d.value(`"s"`), "tool", d.value(`"t"`), "changes", d.junk(0), "status", d.value(d.of(`"declined"`, `"completed"`)))))
}

func (d dice) gemini() string {
	return d.object("type", d.value(d.quoted(d.of("message", "tool_use", "tool_result", "error", "result"))), "role", d.of(`"assistant"`, `"user"`),
		"content", d.junk(0), "tool_name", d.value(`"glob"`), "tool_id", d.id(), "status", d.value(d.of(`"error"`, `"success"`)),
		"error", d.value(d.object("type", d.of(`"policy_violation"`, `"file_not_found"`))), "stats", d.value(d.object("input_tokens", d.junk(0), "output_tokens", "2")))
}

// TestRandomStreams compares the reader with the oracle on random events.
func TestRandomStreams(t *testing.T) {
	rounds := 6000
	if testing.Short() {
		rounds = 1000
	}
	for seed := range rounds {
		d := dice{rand.New(rand.NewPCG(uint64(seed), 1))}
		a := spec.Agent(seed%3) + spec.Claude
		one := map[spec.Agent]func() string{spec.Claude: d.claude, spec.Codex: d.codex, spec.Gemini: d.gemini}[a]
		var text bytes.Buffer
		for range 1 + d.IntN(12) {
			text.WriteString(one())
			text.WriteString(d.of("\n", "\n", "\r\n", "\n\nWarning: {}\n"))
		}
		s, _ := New(a, Hooks{})
		for p := text.Bytes(); len(p) > 0; {
			n := min(1+d.IntN(300), len(p))
			s.Write(p[:n])
			p = p[n:]
		}
		s.Close()
		compare(t, a, text.Bytes(), s.Summary())
		if t.Failed() {
			t.Fatal("seed ", seed)
		}
	}
}
