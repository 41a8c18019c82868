package agent

import (
	"slices"
	"strconv"
	"strings"

	"sbx/spec"
)

// gemini's stream (--output-format stream-json) is a flat sequence of messages, calls and
// results. It has no events for turns: a turn is a sequence of the model's messages and
// calls up to the next result.

// geminiTargets names the parameter that patterns are matched against, by tool.
var geminiTargets = targets{
	{"run_shell_command", "command"},
	{"read_file", "file_path"}, {"write_file", "file_path"}, {"replace", "file_path"},
	{"list_directory", "dir_path"}, {"grep_search", "dir_path"}, {"search_file_content", "dir_path"}, {"glob", "dir_path"},
	{"web_fetch", "prompt"}, {"google_web_search", "query"},
	{"invoke_agent", "agent_name"}, {"activate_skill", "name"},
}

// geminiRefusals are the error types of calls that never ran. Errors of the tool itself,
// such as file_not_found, are not among them.
var geminiRefusals = []string{
	"tool_not_registered", "policy_violation", "invalid_tool_params", "path_not_in_workspace", "sandbox_expansion_required",
}

type geminiLine struct {
	kind, role, session, stats, err field
	id, name, parameters, status    field
}

func geminiEvent(t *tally, c *cursor) bool {
	var e geminiLine
	if !c.enter('{') {
		return false
	}
	wanted := [...]member{{"type", &e.kind}, {"role", &e.role}, {"session_id", &e.session}, {"tool_id", &e.id}, {"tool_name", &e.name},
		{"parameters", &e.parameters}, {"status", &e.status}, {"error", &e.err}, {"stats", &e.stats}}
	for first := true; !e.enough() && c.more('}', &first); {
		c.take(c.key(), wanted[:])
	}
	return !c.bad && e.act(t)
}

// enough reports whether the rest of the line cannot matter: it is the text of a message,
// or the output of a call that ran.
func (e *geminiLine) enough() bool {
	switch {
	case e.role.set:
		return e.kind.is("message")
	case e.status.set && e.id.set:
		return e.kind.is("tool_result") && !e.status.is("error")
	}
	return false
}

func (e *geminiLine) act(t *tally) bool {
	switch {
	case e.kind.is("init"):
		t.session = e.session.text(maxString)
	case e.kind.is("message"):
		if e.role.is("assistant") {
			t.speak()
		}
	case e.kind.is("tool_use"):
		t.speak()
		e.call(t)
	case e.kind.is("tool_result"):
		t.speaking = false
		t.answered(e.id.text(maxID), e.verdict())
	case e.kind.is("result"):
		t.speaking = false
		e.result(t)
	case e.kind.is("error"):
	default:
		return false
	}
	return true
}

// speak counts a new turn unless the current one continues.
func (t *tally) speak() {
	if !t.speaking {
		t.speaking = true
		t.turn()
	}
}

func (e *geminiLine) call(t *tally) {
	name := e.name.text(maxName)
	w := Wish{Name: name, ID: e.id.text(maxID), As: claudeNames(spec.Gemini, name)}
	w.Targets, w.Cut = geminiTargets.of(name, &e.parameters)
	switch name {
	case "invoke_agent":
		t.subs = true
	case "web_fetch":
		w.Targets = urlsIn(w.Targets)
	}
	t.asked(w, name == "run_shell_command")
}

// urlsIn returns the URLs in texts: web_fetch gets them as part of a prompt.
func urlsIn(texts []string) []string {
	var urls []string
	for _, s := range texts {
		for _, word := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`<>(),", r) }) {
			if strings.Contains(word, "://") && len(urls) < maxTargets {
				urls = append(urls, word)
			}
		}
	}
	return urls
}

func (e *geminiLine) verdict() verdict {
	if !e.status.is("error") {
		return ran
	}
	f := e.err.fields("type")
	if slices.ContainsFunc(geminiRefusals, f[0].is) {
		return refused
	}
	return ran
}

func (e *geminiLine) result(t *tally) {
	f := e.stats.fields("input_tokens", "cached", "output_tokens", "tool_calls")
	t.meter(&f)
	if n, ok := f[3].number(); ok {
		t.reported = int(min(n, 1<<31-1))
	}
	if e.status.is("success") {
		t.over(true, "")
		return
	}
	f = e.err.fields("type", "message")
	reason := f[0].text(maxString)
	if reason == "" || reason == "unknown" {
		reason = strings.TrimSpace(f[1].text(maxString))
	}
	t.over(false, reason)
}

func geminiUnseen(t *tally, _ *Rollout, s *Summary) {
	s.unseen("version", "gemini's stream does not say")
	if !t.subs {
		return
	}
	why := "what gemini's sub-agents do is not in its stream"
	if n := t.reported - t.count; n > 0 {
		why += "; by its own count they made " + strconv.Itoa(n) + " calls"
	}
	s.unseen("subagents", why)
}
