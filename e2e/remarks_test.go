package e2e

import (
	"context"
	"os/exec"
	"strings"
	"testing"
)

// The variables that a command does not get are named where a person looks: under -v and
// by show.
func TestDroppedVariablesAreNamed(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.env = append(b.env, "GITHUB_TOKEN=s3cret", "DATABASE_URL=s3cret", "KEPT=x")
	shown := func() string {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		out, err := exec.CommandContext(ctx, sbxPath, "show", b.rec).Output()
		must(t, err)
		return string(out)
	}
	const names = "GITHUB_TOKEN, DATABASE_URL" // in the order of the environment
	r := b.sh(specWW, "echo ${GITHUB_TOKEN-none} ${DATABASE_URL-none}").ended()
	if !strings.HasPrefix(r.out, "none none\n") || r.err != "" || !strings.Contains(shown(), "not passed   "+names+"\n") {
		t.Errorf("%v\n%s", r, shown())
	}
	b.args = []string{"-v"}
	if r = b.sh(specWW, ":").ended(); !strings.Contains(r.err, "sbx: variables that the command does not get: "+names+"\n") || strings.Contains(r.err, "s3cret") {
		t.Errorf("%v", r)
	}
	// The control: nothing is dropped.
	b.args = nil
	r = b.sh(specWith(specWW, `"environment":{"pass":["*"]}`), "echo $GITHUB_TOKEN").ended()
	if r.out != "s3cret\nend\n" || strings.Contains(r.err, "does not get") || strings.Contains(shown(), "not passed") {
		t.Errorf("the control: %v\n%s", r, shown())
	}
}

// A tool that the agent does not have, and nearly has, is said; one that it has is not.
func TestMistypedToolsAreSaid(t *testing.T) {
	for name, c := range map[string]struct{ wrong, right, meant string }{
		"claude": {"webfetch", "WebFetch", "WebFetch"},
		"codex":  {"web_serch", "WebSearch", "web_search"},
		"gemini": {"run_shell_comand(rm)", "run_shell_command(rm)", "run_shell_command"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newActor(t, name, name+"-basic.jsonl")
			spec := func(tool string) string {
				return `{"access_mode": "workspace-write", "best_effort": ["*"], "tools_denied": [` + quoted(tool) + `]}`
			}
			said := name + " has no tool " + c.wrong + " (did you mean " + c.meant + "?)"
			r := a.act(spec(c.wrong), "quickly")
			if r.code != 0 || !strings.Contains(r.err, said) || !strings.Contains(texts(r.rec["warnings"]), said) {
				t.Errorf("%v; warnings %v", r, r.rec["warnings"])
			}
			for _, tool := range []string{c.right, "mcp__webfetch__x", "Elsewhere*"} {
				if r = a.act(spec(tool), "quickly"); strings.Contains(r.err, "did you mean") || r.rec["warnings"] != nil {
					t.Errorf("%s: %v", tool, r)
				}
			}
		})
	}
}

// A tool that was refused each time was not used.
func TestRefusedToolsWereNotUsed(t *testing.T) {
	a := newActor(t, "claude", "claude-denied.jsonl")
	r := a.act(specWW, "quickly")
	tools := r.rec.uses()
	if len(tools) == 0 {
		t.Fatalf("no tool was asked for: %v", r)
	}
	used := texts(r.rec["tools_used"])
	refused := 0
	for name, u := range tools {
		never := u.refused > 0 && u.refused == u.asked
		if never {
			refused++
		}
		if strings.Contains(used, quoted(name)) == never {
			t.Errorf("%s, %+v: tools_used %s", name, u, used)
		}
	}
	if refused == 0 || refused == len(tools) {
		t.Errorf("%d of %d tools refused: no control", refused, len(tools))
	}
}

// An agent that has no network is told of at the start, and one that has is not.
func TestAnAgentWithoutANetworkIsSaid(t *testing.T) {
	a := newActor(t, "claude", "claude-basic.jsonl")
	const line = "sbx: claude has no network, and so no way to its model: "
	says := func(spec, want string, args ...string) {
		t.Helper()
		a.args = args
		r := a.act(spec, "quickly")
		if r.code != 0 || strings.Count(r.err, line) != min(len(want), 1) || !strings.Contains(r.err, want) {
			t.Errorf("%s %v: %v", spec, args, r)
		}
	}
	none := specWith(specWW, `"network":{"mode":"none"}`)
	says(none, line+`network.mode: none; network.allow: ["@anthropic"] in its place would give it one`+"\n")
	says(none, "", "-q")
	says(specWith(specWW, `"network":{"allow":[]}`), line+`network.allow; network.allow: ["@anthropic"] in its place would give it one`+"\n")
	says(specWith(specWW, `"network":{"allow":["@anthropic"]}`), "")
	says(specWith(specWW, `"network":{"mode":"host"}`), "")
	says(specWW, "")
	a.env = append(a.env, "ANTHROPIC_BASE_URL=http://127.0.0.1:8123")
	says(none, line+`network.mode: none; network.allow: ["127.0.0.1:8123"] in its place would give it one`+"\n")
}

// The record says which refusals about files could be seen.
func TestWhatIsSeenOfFilesIsSaid(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	for _, folder := range []string{"one", "two", "three"} {
		b.write("ws/"+folder+"/file", "")
	}
	for level, want := range map[string]string{
		"on":    `["names","opens for writing","masked folders","protected names"]`,
		"names": `["names","masked folders","protected names"]`,
		"off":   `["protected names"]`,
	} {
		b.args = []string{"--violations", level}
		r := b.sh(specHides, ":").ended()
		if got := texts(r.rec["observed_filesystem"]); got != want {
			t.Errorf("%s: %s, want %s", level, got, want)
		}
	}
}
