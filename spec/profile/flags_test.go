package profile

import (
	"slices"
	"strings"
	"testing"

	"sbx/spec"
	"sbx/spec/agent"
)

// agentsOf returns all agents of the catalog, in its order.
func agentsOf(c *Catalog) []string {
	var all []string
	for i := range c.Rows {
		all = append(all, named(c.Rows[i].Agents)...)
	}
	return all
}

// flagsOf returns a line of the golden files: the flags, and what nothing enforces.
func flagsOf(t *testing.T, c *Catalog, a spec.Agent, asked Asked) string {
	t.Helper()
	ch, err := c.Choose(asked)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	ask := ch.Ask("/p")
	ask.Servers = &agent.Servers{}
	f := ch.Flags(a, ask)
	var b strings.Builder
	b.WriteString("  " + Line(f.Args) + "\n")
	for _, why := range ch.Why {
		b.WriteString("  # " + why + "\n")
	}
	for _, w := range ch.Warnings(a, f) {
		b.WriteString("  ! " + w + "\n")
	}
	return b.String()
}

// TestGoldenFlags writes the flags of every agent by itself and at every launch point, of every
// launch point without an agent, and of an unknown agent and launch point, for each command line.
// Equal results are written once.
func TestGoldenFlags(t *testing.T) {
	c := Builtin()
	agents, points := agentsOf(c), c.pointNames()
	if len(agents) != 15 || len(points) != 7 {
		t.Fatalf("%d agents, %d launch points", len(agents), len(points))
	}
	for _, a := range []spec.Agent{spec.Claude, spec.Codex, spec.Gemini} {
		var outcomes []string
		who := map[string]string{}
		add := func(name, point string) {
			out := flagsOf(t, c, a, Asked{Name: name, Point: point})
			if !slices.Contains(outcomes, out) {
				outcomes = append(outcomes, out)
			}
			who[out] += strings.TrimSpace(name+"@"+point) + "\n"
		}
		for _, name := range append(agents, "nobody") {
			for _, point := range append([]string{""}, points...) {
				add(name, point)
			}
		}
		for _, point := range append(points, "nowhere") {
			add("", point)
		}
		var b strings.Builder
		for _, out := range outcomes {
			b.WriteString(who[out] + out + "\n")
		}
		golden(t, "flags."+a.String()+".txt", b.String())
	}
}

// A name by itself means an agent or, if there is none, a launch point, and both ways to name a
// launch point are equal.
func TestAPointByItsName(t *testing.T) {
	c := Builtin()
	for _, p := range c.pointNames() {
		if got, want := flagsOf(t, c, spec.Claude, Asked{Name: p}), flagsOf(t, c, spec.Claude, Asked{Point: p}); got != want {
			t.Errorf("%s: %s and %s", p, got, want)
		}
	}
}

var fronts = []struct{ name, front string }{
	{"code-reviewer", "tools: [Read, Grep]"},
	{"code-reviewer", "tools: Read, Grep, Bash"},
	{"code-reviewer", "tools: Read, Write, WebFetch"},
	{"code-reviewer", "tools: Read, Bash(git log:*), Bash(make:*)"},
	{"code-reviewer", "description: no tools"},
	{"code-reviewer", "tools: \"*\""},
	{"coder", "tools: []"},
	{"coder", "tools: Read, Edit, Bash"},
	{"stranger", "tools: Read, Grep, Bash"},
	{"coder", "tools: MultiEdit"},
	{"stranger", "tools: Read, MultiEdit"},
	{"stranger", "tools: [Read, \"Write(docs/**)\"]"},
	{"stranger", "description: no tools"},
	{"stranger", "tools: \"*\""},
}

// TestGoldenFrontMatter writes the tools that follow from the front matter of an agent's file.
func TestGoldenFrontMatter(t *testing.T) {
	var b strings.Builder
	for _, f := range fronts {
		for _, point := range []string{"", "question"} {
			w := world{"/x/" + f.name + ".md": "---\nname: " + f.name + "\n" + f.front + "\n---\nYou are an agent.\n"}
			env := w.env()
			asked, err := env.Asked("/x/"+f.name+".md", point)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(f.name + ".md, " + f.front + " @" + point + "\n" + flagsOf(t, load(t, w), spec.Claude, asked))
		}
	}
	golden(t, "front.txt", b.String())
}

// An agent's front matter is found by its name in the directories in which Claude looks for it, the
// project's first.
func TestFrontMatterByName(t *testing.T) {
	file := func(tools string) string { return "---\ntools: " + tools + "\n---\n" }
	w := world{"/home/u/.claude/agents/coder.md": file("Read"), "/home/u/.claude/agents/helper.md": file("Grep"), "/p/.claude/agents/helper.md": file("Glob")}
	env := w.env()
	for name, want := range map[string]string{"coder": "Read", "helper": "Glob", "frontend-coder": "Read Grep Glob Write Edit"} {
		asked, err := env.Asked(name, "")
		if err != nil {
			t.Fatal(err)
		}
		ch, err := load(t, w).Choose(asked)
		if err != nil || !strings.HasPrefix(strings.Join(ch.Tools, " "), want) {
			t.Errorf("%s: %+v %v", name, ch, err)
		}
	}
	if _, err := env.Asked("/x/none.md", ""); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
	w["/p/.claude/agents/coder.md"] = "---\ntools: [Read\n---\n"
	if _, err := env.Asked("coder", ""); err == nil || !strings.Contains(err.Error(), "/p/.claude/agents/coder.md:") {
		t.Errorf("a file that does not hold: %v", err)
	}
}

// An agent that belongs to no profile gets one that is no wider than its tools need.
func TestByTools(t *testing.T) {
	for tools, want := range map[string]string{
		"": "read-only", "Read Bash": "read-only", "WebFetch": "read-only",
		"Write": "write", "Read Edit(src/**)": "write", "MultiEdit": "write", "NotebookEdit": "write",
	} {
		if got, why := byTools(strings.Fields(tools)); got != want || why == "" {
			t.Errorf("%s: %s", tools, got)
		}
	}
}

func TestSwitch(t *testing.T) {
	for value, want := range map[string]Switch{
		"": {}, "true": {}, "True": {},
		"false":   {Off: true, Note: "ORCHESTRATOR_SANDBOX_ENABLED=false: profiles are off"},
		" FALSE ": {Off: true, Note: "ORCHESTRATOR_SANDBOX_ENABLED=false: profiles are off"},
		"0":       {Note: "ORCHESTRATOR_SANDBOX_ENABLED is neither true nor false: profiles stay on"},
		"no":      {Note: "ORCHESTRATOR_SANDBOX_ENABLED is neither true nor false: profiles stay on"},
	} {
		if got := ReadSwitch(value); got != want {
			t.Errorf("%q: %+v", value, got)
		}
	}
}

func TestLine(t *testing.T) {
	for arg, want := range map[string]string{
		"": `""`, "Read": "Read", "/a/b-c_d.e:f,g=h+i@j%k": "/a/b-c_d.e:f,g=h+i@j%k", "Bash(git:*)": `"Bash(git:*)"`,
		"a b": `"a b"`, "it's": `"it's"`, `a"b`: `'a"b'`, "$HOME": `'$HOME'`, "`x`": "'`x`'", `\`: `'\'`, "!x": `'!x'`,
		"it's $5": `'it'\''s $5'`, "~": `"~"`, "a\nb": "'a\nb'", "é": `"é"`,
	} {
		if got := Line([]string{arg}); got != want {
			t.Errorf("%q: %s, want %s", arg, got, want)
		}
	}
	if got := Line([]string{"a", "b c"}); got != `a "b c"` {
		t.Error(got)
	}
}

func TestCovered(t *testing.T) {
	for _, c := range []struct {
		parent, tool string
		want         bool
	}{
		{"Read", "Read", true}, {"Read", "Read(/a/**)", true}, {"Read(/a/**)", "Read", false}, {"Read", "Write", false},
		{"Bash(git:*)", "Bash(git:*)", true}, {"Bash(git:*)", "Bash(git log:*)", true}, {"Bash(git:*)", "Bash(git)", true},
		{"Bash(git:*)", "Bash(gitk:*)", false}, {"Bash(git log:*)", "Bash(git:*)", false}, {"Edit", "MultiEdit", true},
		{"Bash(git:*)", "Bash(git log:*, rm:*)", false}, {"Bash(git:*)", "Bash(git log && rm:*)", false}, {"Bash(git:*)", "Bash(git $(rm))", false},
		{"Bash(git)", "Bash(git log)", false},
	} {
		if got := covered([]string{"X", c.parent}, c.tool); got != c.want {
			t.Errorf("%s covers %s: %v", c.parent, c.tool, got)
		}
	}
	if covered(nil, "Read") || slices.Contains([]bool{covered([]string{"Bash"}, "Bash(x)")}, false) {
		t.Error("covered")
	}
}
