package agent

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sbx/spec"
)

// oracle reads a stream in a second way: as a whole, with encoding/json, and in another order
// (first all events, then one question after another).
type oracle struct {
	events []map[string]any
	tools  []Tool
	state  map[string]string // by the id of a call
	name   map[string]string
}

func (o *oracle) ask(id, name string) {
	if _, ok := o.name[id]; ok {
		return
	}
	o.name[id] = name
	o.at(name).Asked++
}

func (o *oracle) at(name string) *Tool {
	for i := range o.tools {
		if o.tools[i].Name == name {
			return &o.tools[i]
		}
	}
	o.tools = append(o.tools, Tool{Name: name})
	return &o.tools[len(o.tools)-1]
}

func (o *oracle) settle(id, state string) {
	if _, ok := o.name[id]; ok && o.state[id] != "refused" {
		o.state[id] = state
	}
}

func (o *oracle) done() string {
	for id, state := range o.state {
		if state == "ran" {
			o.at(o.name[id]).Ran++
		} else {
			o.at(o.name[id]).Refused++
		}
	}
	return toolText(o.tools)
}

// oracleOf returns an oracle if it can answer for the text: only JSON objects and lines that
// nothing could take for one, each key once, no long strings.
func oracleOf(text []byte) (o *oracle, ok bool) {
	o = &oracle{state: map[string]string{}, name: map[string]string{}}
	if !utf8.Valid(text) {
		return nil, false
	}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] != '{' {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		v, once := onlyOnce(d)
		event, isObject := v.(map[string]any)
		if _, err := d.Token(); err != io.EOF || !once || !isObject || len(line) > 3000 {
			return nil, false
		}
		o.events = append(o.events, event)
	}
	return o, len(o.events) < 100
}

// onlyOnce returns the next value. once is false if there is none, or if it contains a key twice.
func onlyOnce(d *json.Decoder) (v any, once bool) {
	token, err := d.Token()
	if err != nil {
		return nil, false
	}
	switch token {
	case json.Delim('{'):
		m := map[string]any{}
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return nil, false
			}
			key := k.(string)
			if _, twice := m[key]; twice {
				return nil, false
			}
			v, ok := onlyOnce(d)
			if !ok {
				return nil, false
			}
			m[key] = v
		}
		_, err := d.Token()
		return m, err == nil
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, ok := onlyOnce(d)
			if !ok {
				return nil, false
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err == nil
	}
	return token, true
}

func get(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

func str(v any, path ...string) string {
	s, _ := get(v, path...).(string)
	return s
}

func list(v any, path ...string) []any {
	l, _ := get(v, path...).([]any)
	return l
}

var digits = regexp.MustCompile(`^[0-9]{1,18}$`)

func num(v any, path ...string) (int64, bool) {
	n, ok := get(v, path...).(json.Number)
	if !ok || !digits.MatchString(string(n)) {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}

func (o *oracle) claude() (turns int, tools string) {
	ids := map[string]bool{}
	for _, e := range o.events {
		kind, message := str(e, "type"), get(e, "message")
		if kind == "stream_event" && str(e, "event", "type") == "message_start" {
			message = get(e, "event", "message")
		}
		_, isMessage := message.(map[string]any)
		switch {
		case kind == "assistant" || kind == "stream_event" && str(e, "event", "type") == "message_start":
			if str(message, "model") == "<synthetic>" || !isMessage {
				continue
			}
			if id, ok := get(message, "id").(string); ok && !ids[id] {
				ids[id] = true
				if get(e, "parent_tool_use_id") == nil {
					turns++
				}
			}
			for _, b := range list(message, "content") {
				if kind == "assistant" && str(b, "type") == "tool_use" {
					o.ask(str(b, "id"), str(b, "name"))
				}
			}
		case kind == "user":
			for _, b := range list(message, "content") {
				if str(b, "type") == "tool_result" {
					o.settle(str(b, "tool_use_id"), claudeState(e, b))
				}
			}
		case kind == "system" && str(e, "subtype") == "permission_denied":
			o.settle(str(e, "tool_use_id"), "refused")
		case kind == "result":
			for _, d := range list(e, "permission_denials") {
				o.settle(str(d, "tool_use_id"), "refused")
			}
		}
	}
	return turns, o.done()
}

func claudeState(e, b any) string {
	if get(b, "is_error") != true {
		return "ran"
	}
	for _, m := range list(e, "tool_result_meta") {
		if str(m, "id") != str(b, "tool_use_id") {
			continue
		}
		switch d, ok := get(m, "permission_decision", "decision").(string); {
		case ok && d != "accept":
			return "refused"
		case ok:
			return "ran"
		}
		break
	}
	for _, words := range []string{"<tool_use_error>", "denied by your permission", "Read deny rule"} {
		if strings.Contains(clipString(str(b, "content"), maxHead), words) {
			return "refused"
		}
	}
	return "ran"
}

func (o *oracle) codex() (turns int, tools string) {
	for _, e := range o.events {
		kind, name := str(e, "type"), str(e, "item", "type")
		if _, ok := get(e, "item", "type").(string); !ok || kind != "item.started" && kind != "item.completed" {
			continue
		}
		switch name {
		case "agent_message", "reasoning", "error", "todo_list":
			continue
		case "mcp_tool_call":
			name = "mcp__" + str(e, "item", "server") + "__" + str(e, "item", "tool")
		}
		o.ask(str(e, "item", "id"), name)
		if kind == "item.completed" {
			state := "ran"
			if str(e, "item", "status") == "declined" {
				state = "refused"
			}
			o.settle(str(e, "item", "id"), state)
		}
	}
	return 0, o.done()
}

func (o *oracle) gemini() (turns int, tools string) {
	speaks := false
	for _, e := range o.events {
		switch kind := str(e, "type"); {
		case kind == "message" && str(e, "role") == "assistant", kind == "tool_use":
			if !speaks {
				turns++
			}
			speaks = true
			if kind == "tool_use" {
				o.ask(str(e, "tool_id"), str(e, "tool_name"))
			}
		case kind == "tool_result":
			speaks = false
			state := "ran"
			if str(e, "status") == "error" && slices.Contains(geminiRefusals, str(e, "error", "type")) {
				state = "refused"
			}
			o.settle(str(e, "tool_id"), state)
		case kind == "result":
			speaks = false
		}
	}
	return turns, o.done()
}

// compare compares a summary with the oracle's; it returns false if the oracle has none.
func compare(t *testing.T, a spec.Agent, text []byte, sum Summary) bool {
	t.Helper()
	o, ok := oracleOf(text)
	if !ok {
		return false
	}
	if sum.Turns.Set || a == spec.Codex && sum.Tools.Set {
		var turns int
		var tools string
		switch a {
		case spec.Claude:
			turns, tools = o.claude()
		case spec.Codex:
			turns, tools = o.codex()
		case spec.Gemini:
			turns, tools = o.gemini()
		}
		if _, nameless := o.name[""]; nameless {
			return false // each is a call of its own, about which the oracle knows nothing
		}
		if got := toolText(sum.Tools.Value); got != tools || sum.Turns.Set && sum.Turns.Value != turns {
			t.Errorf("%s: %d turns, %q; the oracle: %d, %q\n%s", a, sum.Turns.Value, got, turns, tools, text)
		}
	}
	if a == spec.Gemini && sum.Tokens.Set && len(o.events) > 0 {
		for _, e := range slices.Backward(o.events) {
			if n, ok := num(e, "stats", "input_tokens"); ok && str(e, "type") == "result" {
				if _, ok := num(e, "stats", "output_tokens"); !ok {
					continue
				}
				if n != sum.Tokens.Value.Input {
					t.Errorf("%d tokens, the oracle: %d\n%s", sum.Tokens.Value.Input, n, text)
				}
				break
			}
		}
	}
	return true
}

func TestOracle(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.jsonl")
	streams, _ := filepath.Glob("testdata/*.stream")
	for _, file := range append(files, streams...) {
		a := spec.Codex
		if !strings.HasSuffix(file, ".stream") {
			a = agentOf(t, filepath.Base(file))
		}
		text := load(t, file)
		// Elsewhere long lines are left out of what the oracle is asked, but not here.
		if !compareAll(t, a, text) {
			t.Errorf("%s: the oracle has no opinion", file)
		}
	}
}

// compareAll asks the oracle whatever the length of lines.
func compareAll(t *testing.T, a spec.Agent, text []byte) bool {
	var short [][]byte
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if len(line) <= 3000 || bytes.Contains(line, []byte(`"result"`)) {
			short = append(short, line)
		}
	}
	text = bytes.Join(short, []byte("\n"))
	return compare(t, a, text, summaryOf(t, a, string(text)))
}

// TestCorpora checks that the kept seeds exist: otherwise a fuzz test would pass without testing
// anything.
func TestCorpora(t *testing.T) {
	for _, name := range []string{"FuzzStream", "FuzzRollout"} {
		seeds, err := filepath.Glob(filepath.Join("testdata", "fuzz", name, "*"))
		if err != nil || len(seeds) == 0 {
			t.Errorf("%s has no kept seeds: %v", name, err)
		}
	}
}

// FuzzStream checks for any input that cutting it changes nothing, that the reader keeps no
// reference to it, that counts add up, and that the oracle, if it has an answer, agrees.
func FuzzStream(f *testing.F) {
	f.Fuzz(func(t *testing.T, which uint8, at uint16, text []byte) {
		a := spec.Agent(which%3) + spec.Claude
		whole := summaryOf(t, a, string(text))
		s, _ := New(a, Hooks{})
		cut := min(int(at), len(text))
		for _, part := range [][]byte{text[:cut], text[cut:]} {
			part = bytes.Clone(part)
			s.Write(part)
			clear(part)
		}
		s.Close()
		if got := s.Summary(); !reflect.DeepEqual(got, whole) {
			t.Fatalf("cut at %d: %+v, want %+v", cut, got, whole)
		}
		for _, tool := range whole.Tools.Value {
			if tool.Ran < 0 || tool.Refused < 0 || tool.Ran+tool.Refused > tool.Asked {
				t.Errorf("%+v", tool)
			}
		}
		if whole.Shell.Value < 0 || len(whole.Tools.Value) > maxTools {
			t.Errorf("%+v", whole)
		}
		compare(t, a, text, whole)
	})
}

// FuzzRollout checks that cutting changes nothing, and that counts add up.
func FuzzRollout(f *testing.F) {
	f.Fuzz(func(t *testing.T, at uint16, text []byte) {
		whole, cut := NewRollout(Hooks{}), NewRollout(Hooks{})
		whole.Write(text)
		n := min(int(at), len(text))
		cut.Write(text[:n])
		cut.Write(text[n:])
		if whole.tally.turns != cut.tally.turns || toolText(whole.tally.tools) != toolText(cut.tally.tools) {
			t.Fatalf("cut at %d", n)
		}
		for _, tool := range whole.tally.tools {
			if tool.Ran+tool.Refused > tool.Asked {
				t.Errorf("%+v", tool)
			}
		}
	})
}
