package e2e

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The variables that a command does not get are named where a user looks: by -v and by show.
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
	if !strings.HasPrefix(r.out, "none none\n") || r.err != "" || !strings.Contains(shown(), "not passed    "+names+"\n") {
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

// sbx reports a tool that the agent does not have, but whose name is similar to one that it has.
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

// sbx reports at the start that an agent has no network, and says nothing if it has one.
func TestAnAgentWithoutANetworkIsSaid(t *testing.T) {
	a := newActor(t, "claude", "claude-basic.jsonl")
	const unreached = "sbx: claude has no network, and so no way to its model: network.mode: none; network: "
	const none = unreached + `{"allow": ["@anthropic"]} would give it one` + "\n"
	const noneBase = unreached + `{"allow": ["localhost:4711"]} would give it one` + "\n"
	const traced = "sbx: claude has no network, and so no way to its model: network.mode: none; network.mode: host would give it one\n"
	const listed = "sbx: claude has no way to its model, whose hosts network.allow leaves out; network.allow: "
	const empty = listed + `["@anthropic"] would give it one` + "\n"
	const hint = listed + `["@npm", "@anthropic"] would give it one` + "\n"
	const base = listed + `["@npm", "localhost:4711"] would give it one` + "\n"
	mode := func(m string) string { return specWith(specWW, `"network":{"mode":"`+m+`"}`) }
	allow := func(list string) string { return specWith(specWW, `"network":{"allow":[`+list+`]}`) }
	for _, c := range []struct {
		spec string
		args []string
		base string // its model's
		line string // "" for none
	}{
		{mode("none"), nil, "", none},
		{mode("none"), nil, "http://localhost:4711/v1", noneBase},
		{mode("none"), []string{"--counter", "ptrace"}, "", traced}, // which a list cannot be combined with
		{mode("none"), []string{"-q"}, "", ""},
		{mode("host"), nil, "", ""},
		{specWW, nil, "", ""},
		{allow(``), nil, "", empty},
		{allow(`"@npm"`), nil, "", hint},
		{allow(`"@npm"`), []string{"-q"}, "", ""},
		{allow(`"@npm", "@anthropic"`), nil, "", ""},
		{allow(`"*.anthropic.com:443"`), nil, "", ""},
		{allow(`"@npm"`), nil, "http://localhost:4711/v1", base},
		{allow(`"127.0.0.1:4711"`), nil, "http://localhost:4711/v1", ""},
		{specWW, nil, "http://localhost:4711/v1", ""},
	} {
		a.args = c.args
		a.env = append(slices.DeleteFunc(a.env, func(v string) bool { return strings.HasPrefix(v, "ANTHROPIC_BASE_URL=") }), "ANTHROPIC_BASE_URL="+c.base)
		r := a.act(c.spec, "quickly")
		if r.code != 0 || !strings.Contains(r.err, c.line) || c.line == "" && strings.Contains(r.err, "no way to its model") {
			t.Errorf("%s %v: %v", c.spec, c.args, r)
		}
	}
}

// The record says which denials about files could be seen.
func TestWhatIsSeenOfFilesIsSaid(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	for _, dir := range []string{"one", "two", "three"} {
		b.write("ws/"+dir+"/file", "")
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
