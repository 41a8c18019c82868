package life

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sbx/dispatch"
	"sbx/spec"
)

func TestClimb(t *testing.T) {
	for _, c := range []struct {
		models, want string
		open         bool
	}{
		{"sonnet", "sonnet", false},
		{"sonnet sonnet", "opus", false},
		{"sonnet sonnet opus", "opus", false},
		{"sonnet sonnet opus opus", "", false},
		{"sonnet sonnet opus opus", "fable", true},
		{"sonnet sonnet opus opus fable", "fable", true},
		{"sonnet sonnet opus opus fable fable", "", true},
		{"sonnet sonnet sonnet", "opus", false},
		{"opus", "opus", false},
		{"opus opus", "", false},
		{"fable fable", "", true},
		{"-", "-", false},
		{"- -", "opus", false},
		{"own-model own-model", "opus", false},
		{"opus sonnet", "sonnet", false},
	} {
		got, ok := nextModel(strings.Fields(c.models), c.open)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("after %s (%v): %q, %v", c.models, c.open, got, ok)
		}
	}
}

// failed adds the row of an agent's dispatch that has failed, as a spawn and its end would leave
// it.
func (s *scene) failed(l *dispatch.Ledger, id, agent, parent string, retries int64) dispatch.Dispatch {
	s.t.Helper()
	j := s.job()
	j.Argv, j.Agent, j.ID, j.Prompt = nil, agent, id, filepath.Join(s.dir, "prompt")
	j.Output = filepath.Join(s.dir, "project", "out-"+id)
	row := s.row(j)
	row.ID, row.Status, row.PromptFile, row.VerdictFile = id, dispatch.Failed, spec.Some(j.Prompt), j.VerdictFile()
	row.ParentDispatchID, row.RetryCount, row.ErrorMessage = spec.Some(parent), spec.Some(retries), spec.Some("it was "+id)
	must(s.t, l.Insert(&row))
	f := s.world.dirOf(l.Path(), id)
	must(s.t, f.make())
	must(s.t, f.writeJSON(jobFile, &j))
	return row
}

// After two attempts by a model the next one gets the prompt with all failures. If no model is
// left, a file reports all attempts to a person.
func TestEscalate(t *testing.T) {
	s := newScene(t)
	l := s.ledger()
	must(t, os.WriteFile(filepath.Join(s.dir, "prompt"), []byte("do it\n"), 0o600))
	d := s.failed(l, "first000", "claude", "", 0)
	must(t, os.WriteFile(d.OutputFile.Value, []byte("one\n"+strings.Repeat("more\n", 60)+"the end\n"), 0o644))
	for i, want := range []struct {
		model     string
		escalated bool
	}{{"", false}, {"opus", true}, {"opus", false}} {
		again, j, err := s.world.Escalate(l, s.db, d.ID, Escalation{Detail: fmt.Sprint("detail\n", i)})
		must(t, err)
		next, err := l.Get(again.ID)
		must(t, err)
		if again.Model != want.model || again.Escalated != want.escalated || next.Model.Value != want.model || next.Model.Set != (want.model != "") ||
			next.Status != dispatch.Spawned || next.RetryCount.Value != int64(i+1) || next.ParentDispatchID.Value != d.ID || j.Model != want.model || j.Prompt != next.PromptFile.Value {
			t.Errorf("%d: %+v, %+v, %+v", i, again, next, j)
		}
		text, err := os.ReadFile(next.PromptFile.Value)
		must(t, err)
		hash, err := s.world.HashPrompt(&Job{}, next.PromptFile.Value)
		if err != nil || next.PromptHash.Value != hash || filepath.Dir(next.PromptFile.Value) != s.dir {
			t.Errorf("%d: %+v, %v", i, next, err)
		}
		if info, _ := os.Stat(next.PromptFile.Value); info.Mode().Perm() != 0o600 {
			t.Errorf("%d: the prompt may be read by others: %v", i, info.Mode())
		}
		if n := strings.Count(string(text), "## Attempt"); !strings.HasPrefix(string(text), "do it\n\n\n## Attempt 1 failed") || n != i+1 ||
			!strings.Contains(string(text), fmt.Sprint(": detail ", i)) || strings.Contains(string(text), "    one\n") || !strings.Contains(string(text), "    the end\n") {
			t.Errorf("%d: %d, %s", i, n, text)
		}
		// It was started, and failed.
		if err := l.End(next.ID, dispatch.End{Status: dispatch.TimedOut, Effective: spec.Some("{}")}); err != nil {
			t.Fatal(err)
		}
		f := s.world.dirOf(l.Path(), next.ID)
		must(t, f.make())
		must(t, f.writeJSON(jobFile, j))
		d = next
	}
	var end *Exhausted
	_, _, err := s.world.Escalate(l, s.db, d.ID, Escalation{})
	if !errors.As(err, &end) || end.Attempts != 4 {
		t.Fatalf("%v", err)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "project", "escalation-chain-first000.md"))
	if err != nil || end.Lesson != filepath.Join(s.dir, "project", "escalation-chain-first000.md") || strings.Count(string(text), "\n## Attempt") != 4 || !strings.Contains(string(text), "error: it was first000") || !strings.Contains(string(text), "opus: timeout") {
		t.Errorf("%s, %v", text, err)
	}
	if again, _, err := s.world.Escalate(l, s.db, d.ID, Escalation{Open: true}); err != nil || again.Model != "fable" {
		t.Errorf("%+v, %v", again, err)
	}
}

// If an escalation is not possible, it leaves no row and no file.
func TestEscalateRefuses(t *testing.T) {
	s := newScene(t)
	l := s.ledger()
	prompt := filepath.Join(s.dir, "prompt")
	must(t, os.WriteFile(prompt, []byte("do it\n"), 0o644))
	refused := func(what, id, want string, e Escalation) {
		t.Helper()
		before, _ := os.ReadDir(s.dir)
		rows, err := l.List(dispatch.Filter{})
		must(t, err)
		if _, _, err = s.world.Escalate(l, s.db, id, e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
		after, _ := os.ReadDir(s.dir)
		now, err := l.List(dispatch.Filter{})
		if err != nil || len(now) != len(rows) || len(after) != len(before) {
			t.Errorf("%s: %d rows, %d before; %v", what, len(now), len(rows), after)
		}
	}
	refused("no dispatch", "none", "no dispatch none", Escalation{})
	for _, status := range []dispatch.Status{dispatch.Spawned, dispatch.Running, dispatch.Cancelled, dispatch.Completed} {
		row := dispatch.Dispatch{ID: string(status), AgentType: "claude", Status: status, ProjectDir: s.dir, PromptFile: spec.Some(prompt)}
		must(t, l.Insert(&row))
		refused(string(status), row.ID, "its status is "+string(status), Escalation{Mode: "error"})
	}
	refused("what is not known", "completed", "not known here", Escalation{Mode: "criteria-fail"})
	j := s.job("true")
	j.ID, j.Prompt = "command0", prompt
	row := s.row(j)
	row.ID, row.Status, row.PromptFile = j.ID, dispatch.Failed, spec.Some(prompt)
	must(t, l.Insert(&row))
	f := s.world.dirOf(l.Path(), j.ID)
	must(t, f.make())
	must(t, f.writeJSON(jobFile, &j))
	refused("a command", j.ID, "not known here", Escalation{})
	must(t, os.RemoveAll(string(f)))
	if _, _, err := s.world.Retry(l, s.db, j.ID); err == nil || !strings.Contains(err.Error(), "not known") {
		t.Errorf("what a command was is guessed: %v", err)
	}
	d := s.failed(l, "agent000", "claude", "", 0)
	must(t, os.Remove(prompt))
	refused("no prompt", d.ID, "cannot read the prompt", Escalation{})
	// A prompt may be rewritten, but a link that an agent puts there is refused.
	must(t, os.WriteFile(prompt, []byte("do it\n"), 0o644))
	hash, err := s.world.HashPrompt(&Job{}, prompt)
	must(t, err)
	must(t, l.Insert(&dispatch.Dispatch{ID: "hashed00", AgentType: "claude", Status: dispatch.Failed, ProjectDir: s.dir, PromptFile: spec.Some(prompt), PromptHash: spec.Some(hash), VerdictFile: spec.Some("v")}))
	for _, c := range []struct {
		do   func()
		want string
	}{
		{func() {}, hash},
		{func() { must(t, os.WriteFile(prompt, []byte("better\n"), 0o644)) }, "new"},
		{func() { must(t, os.Remove(prompt)) }, hash},
		{func() { must(t, os.Symlink(filepath.Join(s.dir, "secret0"), prompt)) }, hash},
		{func() { must(t, os.WriteFile(filepath.Join(s.dir, "secret0"), []byte("key\n"), 0o600)) }, ""},
	} {
		c.do()
		again, _, err := s.world.Retry(l, s.db, "hashed00")
		if c.want == "" {
			if err == nil || !strings.Contains(err.Error(), "a link leads to it") {
				t.Errorf("a link: %v", err)
			}
			continue
		}
		must(t, err)
		d, err := l.Get(again.ID)
		must(t, err)
		if now, _ := s.world.HashPrompt(&Job{}, prompt); d.PromptHash.Value != c.want && (c.want != "new" || d.PromptHash.Value != now || now == hash) {
			t.Errorf("%s: %+v", c.want, d)
		}
	}
	must(t, os.Remove(prompt))
	// The output must not go to a user's file to which the agent has put a link.
	must(t, os.WriteFile(prompt, []byte("do it\n"), 0o644))
	secret := filepath.Join(s.dir, "secret")
	must(t, os.WriteFile(secret, []byte("key\n"), 0o600))
	for _, link := range []bool{false, true} {
		_ = os.Remove(d.OutputFile.Value)
		if link {
			must(t, os.Symlink(secret, d.OutputFile.Value))
		} else {
			must(t, os.WriteFile(d.OutputFile.Value, []byte("key\n"), 0o644))
		}
		_, next, err := s.world.Escalate(l, s.db, d.ID, Escalation{})
		must(t, err)
		if text, err := os.ReadFile(next.Prompt); err != nil || strings.Contains(string(text), "key") == link {
			t.Errorf("a link: %v: %q, %v", link, text, err)
		}
	}
	// Each ledger is counted separately.
	s = newScene(t)
	s.foreign("INSERT INTO dispatches (id, status, project_dir, prompt_file, verdict_file) VALUES ('old', 'failed', '/', ?, 'v')", prompt)
	if _, _, err := s.world.Escalate(s.ledger(), s.db, "old", Escalation{}); err == nil || !strings.Contains(fmt.Sprint(spec.AsProblems(err)[0].Help), "ic dispatch retry old --escalate") {
		t.Errorf("%v", err)
	}
}
