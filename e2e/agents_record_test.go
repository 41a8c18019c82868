package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// use says how often a tool was called, according to the record.
type use struct{ asked, ran, refused int }

// uses returns the tools of the record's agent, by name.
func (r record) uses() map[string]use {
	all := map[string]use{}
	agent, _ := r["agent"].(map[string]any)
	tools, _ := agent["tools"].(map[string]any)
	for name, v := range tools {
		t := record(v.(map[string]any))
		all[name] = use{t.whole("asked"), t.whole("ran"), t.whole("refused")}
	}
	return all
}

// expected returns what the record should say about the tools, from what the server saw: each call
// was requested; it ran if it got a result, and was refused if the test says that the agent refuses
// it.
func (c *client) expected(x *truth, refused []string) map[string]use {
	all := map[string]use{}
	for _, call := range x.Calls {
		if call.Thread != "" && c.hidden {
			continue
		}
		name, known := c.tools[call.Do]
		if !known {
			name = call.Tool
		}
		if name == "" {
			continue
		}
		u := all[name]
		u.asked++
		switch {
		case slices.Contains(refused, call.Name):
			u.refused++
		case call.Result != nil:
			u.ran++
		}
		all[name] = u
	}
	return all
}

// shells returns how many of the scenario's calls went to the shell, and how many of them ended.
func (c *client) shells(x *truth) (asked, ran int) {
	for _, call := range x.Calls {
		if call.Thread != "" && c.hidden || c.tools[call.Do] != c.tools["shell"] {
			continue
		}
		asked++
		if call.Result != nil {
			ran++
		}
	}
	return asked, ran
}

// matches compares the record with the truth: turns, tools, commands of the shell, tokens.
func (c *client) matches(t *testing.T, r agentRun, refused ...string) {
	t.Helper()
	agent, ok := r.rec["agent"].(map[string]any)
	if !ok {
		t.Errorf("the record has no agent")
		return
	}
	a := record(agent)
	if a.text("name") != c.name || a.text("session") == "" {
		t.Errorf("agent %v of session %v", agent["name"], agent["session"])
	}
	turns := r.truth.turns()
	if got := r.rec.whole("turns_used"); got != turns || a.whole("turns") != turns {
		t.Errorf("turns_used %d, agent.turns %d; the server gave %d answers", got, a.whole("turns"), turns)
	}
	want, got := c.expected(&r.truth, refused), r.rec.uses()
	if !maps.EqualFunc(want, got, func(w, g use) bool {
		// An agent that was ended may not have reported calls that it was about to make.
		return g.asked <= w.asked && g.asked >= w.ran+w.refused && g.ran == w.ran && g.refused == w.refused
	}) {
		t.Errorf("tools %v, want %v", got, want)
	}
	used, _ := r.rec["tools_used"].([]any)
	maps.DeleteFunc(want, func(name string, _ use) bool { // a tool that was refused each time was not used
		return got[name].refused > 0 && got[name].refused == got[name].asked
	})
	for name := range want {
		if !slices.Contains(used, any(name)) {
			t.Errorf("tools_used %v lacks %s", used, name)
		}
	}
	if len(used) != len(want) {
		t.Errorf("tools_used %v, want %d", used, len(want))
	}
	asked, shells := c.shells(&r.truth)
	if got := a.whole("shell_commands"); got < shells || got > asked {
		t.Errorf("shell_commands %d, want %d of %d", got, shells, asked)
	}
	if n := r.rec.whole("commands_used"); n < shells {
		t.Errorf("commands_used %d, and the shell was called %d times", n, shells)
	}
}

// paid compares the tokens with the server's statement about its answers.
func (c *client) paid(t *testing.T, r agentRun) {
	t.Helper()
	var input, cached, output int
	for _, a := range r.truth.Answers {
		if c.name == "codex" && a.Thread != "" { // a sub-agent has a session of its own
			continue
		}
		input += a.Tokens.Input
		cached += a.Tokens.Cached
		output += a.Tokens.Output
	}
	want := fmt.Sprint(input, cached, output)
	if got := fmt.Sprint(r.rec.whole("agent", "tokens", "input"), r.rec.whole("agent", "tokens", "cached"), r.rec.whole("agent", "tokens", "output")); got != want {
		t.Errorf("tokens (input, cached, output) %s, want %s", got, want)
	}
}

// violation reports whether the record has a violation of a kind with these words in its target.
func (r agentRun) violation(kind, words string) bool {
	return slices.ContainsFunc(r.rec.list("violations"), func(v record) bool {
		return v.text("kind") == kind && strings.Contains(v.text("target"), words)
	})
}
