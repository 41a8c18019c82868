package life

import (
	"encoding/json"
	"strings"
	"sync"

	"sbx/audit/agent"
	"sbx/internal/doc"
	"sbx/spec"
)

// Bounds on the data that is kept of an agent's stream, in bytes.
const (
	maxLine  = 4 << 20
	maxWords = 1 << 20
)

// stream reads an agent's JSON lines for data that sbx exec does not report: the number of
// messages, the last message, and the present activity.
type stream struct {
	mu       sync.Mutex
	agent    spec.Agent
	lines    agent.Lines
	messages int64
	words    string // the last message
	joined   bool   // gemini's next piece belongs to the last message
	activity string
}

// event has the keys of all agents' events that matter here.
type event struct {
	Type string `json:"type"`
	Item struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"item"`
	Message json.RawMessage `json:"message"`
	Result  json.RawMessage `json:"result"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

func newStream(a spec.Agent) *stream {
	return &stream{agent: a, lines: agent.Lines{Limit: maxLine}, activity: "starting"}
}

// Write reads the next bytes. It never fails.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines.Cut(p, s.read)
	return len(p), nil
}

// read reads a complete line.
func (s *stream) read(line []byte) {
	if len(line) == 0 || line[0] != '{' {
		return
	}
	var e event
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch s.agent {
	case spec.Codex:
		s.codex(&e)
	case spec.Claude:
		s.claude(&e)
	case spec.Gemini:
		s.gemini(&e)
	}
}

func (s *stream) codex(e *event) {
	switch {
	case e.Type == "turn.started" || e.Type == "turn.completed":
		s.activity = "thinking"
	case e.Type == "item.started" && e.Item.Type == "command_execution":
		s.activity = "running command"
	case e.Type == "item.completed" && e.Item.Type == "agent_message":
		s.say(e.Item.Text)
	}
}

func (s *stream) claude(e *event) {
	switch e.Type {
	case "assistant":
		var m struct {
			Content []struct{ Type, Text string } `json:"content"`
		}
		if json.Unmarshal(e.Message, &m) != nil {
			return
		}
		for _, c := range m.Content {
			switch c.Type {
			case "text":
				s.say(c.Text)
			case "tool_use":
				s.activity = "running tool"
			default:
				s.activity = "thinking"
			}
		}
	case "result":
		var last string
		if json.Unmarshal(e.Result, &last) == nil && last != "" {
			s.words = doc.Clip(last, maxWords)
		}
	}
}

func (s *stream) gemini(e *event) {
	switch {
	case e.Type == "message" && e.Role == "assistant":
		var piece string
		if json.Unmarshal(e.Content, &piece) != nil {
			return
		}
		if s.joined {
			s.words = doc.Clip(s.words+piece, maxWords)
			return
		}
		s.say(piece)
		s.joined = true
	case strings.HasPrefix(e.Type, "tool_"):
		s.activity, s.joined = "running tool", false
	}
}

func (s *stream) say(words string) {
	s.messages++
	s.words = doc.Clip(words, maxWords)
	s.activity = "writing"
}

// finish reads a last line that has no newline.
func (s *stream) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines.End(s.read)
}

// now returns the data so far.
func (s *stream) now() (messages int64, activity, words string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages, s.activity, s.words
}
