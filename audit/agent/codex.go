package agent

import (
	"strings"

	"sbx/spec"
)

// codex's stream (codex exec --json) has an event when an item of work starts and one when
// it is completed. It names the types of items, not tools, and shows neither model turns
// nor denied calls: those are in the rollout file.

// codexSilent reports whether items of a kind are not tool calls.
func codexSilent(kind *field) bool {
	return kind.is("agent_message") || kind.is("reasoning") || kind.is("error") || kind.is("todo_list")
}

type codexLine struct {
	kind, thread, usage, err field
	item                     codexItem
}

type codexItem struct {
	seen                    bool
	id, kind, status        field
	command, changes, query field
	server, tool            field
}

func codexEvent(t *tally, c *cursor) bool {
	var e codexLine
	if !c.enter('{') {
		return false
	}
	wanted := [...]member{{"type", &e.kind}, {"thread_id", &e.thread}, {"usage", &e.usage}, {"error", &e.err}}
	for first := true; c.more('}', &first); {
		if k := c.key(); string(k) != "item" {
			c.take(k, wanted[:])
			continue
		}
		// The content of an item that is not a call does not matter; most items are such.
		known := e.kind.is("item.completed") || e.kind.is("item.started") || e.kind.is("item.updated")
		if e.item.read(c, known); known && codexSilent(&e.item.kind) {
			return !c.bad
		}
	}
	return !c.bad && e.act(t)
}

// read reads an item. With stop it stops as soon as the item turns out not to be a call.
func (m *codexItem) read(c *cursor, stop bool) {
	if m.seen || !c.enter('{') {
		c.skip()
		return
	}
	m.seen = true
	wanted := [...]member{{"id", &m.id}, {"type", &m.kind}, {"status", &m.status}, {"command", &m.command}, {"changes", &m.changes},
		{"query", &m.query}, {"server", &m.server}, {"tool", &m.tool}}
	for first := true; !(stop && codexSilent(&m.kind)) && c.more('}', &first); {
		c.take(c.key(), wanted[:])
	}
}

func (e *codexLine) act(t *tally) bool {
	switch {
	case e.kind.is("thread.started"):
		t.session = e.thread.text(maxString)
	case e.kind.is("turn.started"):
		t.ended = false
	case e.kind.is("item.started"), e.kind.is("item.completed"):
		e.item.act(t, e.kind.is("item.completed"))
	case e.kind.is("turn.completed"):
		f := e.usage.fields("input_tokens", "cached_input_tokens", "output_tokens")
		t.meter(&f)
		t.over(true, "")
	case e.kind.is("turn.failed"):
		f := e.err.fields("message")
		t.over(false, f[0].text(maxString))
	case e.kind.is("item.updated"), e.kind.is("error"):
	default:
		return false
	}
	return true
}

// meter stores the tokens used: input, its cached part, output.
func (t *tally) meter(f *[4]field) {
	in, ok := f[0].number()
	out, ok2 := f[2].number()
	if !ok || !ok2 {
		return
	}
	cached, _ := f[1].number()
	t.tokens, t.metered = Tokens{Input: in, Cached: cached, Output: out}, true
}

func (m *codexItem) act(t *tally, done bool) {
	if !m.kind.str || codexSilent(&m.kind) {
		return
	}
	w := Wish{Name: m.kind.text(maxName), ID: m.id.text(maxID)}
	shell := false
	switch w.Name {
	case "command_execution":
		shell = true
		w.As = []string{"Bash"}
		w.Targets, w.Cut = m.command.target()
		for i, line := range w.Targets {
			w.Targets[i] = shellScript(line)
		}
	case "file_change":
		w.As, w.Targets, w.Cut = codexChanges(m.changes.sub())
	case "mcp_tool_call":
		w.Name = clipString("mcp__"+m.server.text(maxName)+"__"+m.tool.text(maxName), maxName)
		w.As = []string{w.Name}
	case "web_search":
		w.As = []string{"WebSearch"}
		w.Targets, w.Cut = m.query.target()
	case "collab_tool_call":
		t.subs = true
		w.As = []string{"Task"}
	default:
		w.As = claudeNames(spec.Codex, w.Name)
	}
	t.asked(w, shell)
	switch {
	case !done:
	case m.status.is("declined"):
		t.answered(w.ID, refused)
	default:
		t.answered(w.ID, ran)
	}
}

// codexChanges returns Claude's tools for a file_change, and the changed paths: Write
// creates files, Edit changes and removes them.
func codexChanges(c cursor) (as, paths []string, cut bool) {
	if !c.enter('[') {
		return []string{"Edit", "Write"}, nil, true
	}
	makes, edits := false, false
	for first := true; c.more(']', &first); {
		f := c.fields("path", "kind")
		if f[1].is("add") {
			makes = true
		} else {
			edits = true
		}
		if len(paths) == maxTargets || !f[0].str || len(f[0].b) > maxString {
			cut = true
			continue
		}
		paths = append(paths, f[0].text(maxString))
	}
	if edits {
		as = append(as, "Edit")
	}
	if makes {
		as = append(as, "Write")
	}
	return as, paths, cut || c.bad
}

// claudeNames returns Claude's names for an agent's tool; its own name if Claude has no
// such tool.
func claudeNames(a spec.Agent, name string) []string {
	if as := spec.ClaudeTools(a, name); len(as) > 0 {
		return as
	}
	return []string{name}
}

func codexUnseen(t *tally, r *Rollout, s *Summary) {
	if r == nil || !r.hasEvents() {
		why := "codex's stream does not say, and its rollout file was not read"
		s.unseen("version", why)
		s.unseen("turns", why)
		s.unseen("subagents", why)
	} else {
		r.fill(s)
		if t.subs || r.tally.subs {
			s.unseen("subagents", "what codex's sub-agents do is neither in its stream nor in its own rollout file")
		}
	}
	s.unseen("refused", "codex's stream shows no call that was denied before it ran")
}

// shellScript returns the script of a command line of the form /bin/bash -lc 'SCRIPT', as
// codex reports them, and any other line unchanged.
func shellScript(line string) string {
	words, ok := shellWords(line)
	if !ok || len(words) != 3 || words[1] != "-lc" && words[1] != "-c" {
		return line
	}
	switch words[0][strings.LastIndexByte(words[0], '/')+1:] {
	case "sh", "bash", "zsh", "dash":
		return words[2]
	}
	return line
}
