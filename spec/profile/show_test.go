package profile

import (
	"strings"
	"testing"

	"sbx/spec"
	"sbx/spec/agent"
)

// TestGoldenShow compares how every profile is shown for each agent.
func TestGoldenShow(t *testing.T) {
	w := world{"/p/README.md": "", "/p/docs": folder, "/home/u/.claude/projects": folder, "/home/u/.codex/config.toml": "", "/home/u/.gemini/settings.json": ""}
	c := load(t, w)
	for _, a := range []spec.Agent{spec.Claude, spec.Codex, spec.Gemini} {
		var text, json strings.Builder
		for i := range c.Rows {
			row := &c.Rows[i]
			found, err := row.Prepare("/p", w, w, LeaveOut)
			if err != nil {
				t.Fatal(err)
			}
			v := c.View(row, "/p", w.needs(a), found)
			text.WriteString(v.Text() + "\n")
			json.WriteString(v.JSON())
			for _, s := range v.Specs {
				if _, err := spec.Decode("x.json", s.Node().AppendJSON(nil, nil)); err != nil {
					t.Errorf("%s for %s: %v", row.Name, a, err)
				}
			}
		}
		golden(t, "show."+a.String()+".txt", text.String())
		golden(t, "show."+a.String()+".json", json.String())
	}
	golden(t, "list.txt", c.Text())
	golden(t, "list.json", c.JSON())
}

// The kernel enforces the main promise of each profile.
func TestPromises(t *testing.T) {
	c := Builtin()
	for name, want := range map[string]string{
		"read-only":    "writes nothing but its own state",
		"write":        "writes the project, but for protected names, and its own state",
		"verification": "writes the project, but for protected names, and its own state",
		"design":       "a new *.md elsewhere is denied, and so is one that is renamed over another",
	} {
		row := c.row(name)
		found := map[string]agent.Keeper{}
		for _, k := range row.kernel() {
			found[k.Line] = k.By
		}
		if found[want] != agent.ByKernel || found["has in view the project, its own needs and @system"] != agent.ByKernel {
			t.Errorf("%s: %v", name, found)
		}
	}
	// The agent enforces the tools of profile verification.
	ch := &Choice{Row: c.row("verification"), Tools: c.row("verification").Tools()}
	f := ch.Flags(spec.Claude, ch.Ask("/p"))
	if last := f.Kept[len(f.Kept)-1]; last.Line != "edits nothing itself" || last.By != agent.ByAgent {
		t.Errorf("%+v", last)
	}
	if f = ch.Flags(spec.Codex, ch.Ask("/p")); f.Kept[len(f.Kept)-1].Line == "edits nothing itself" {
		t.Error("codex keeps no patches away")
	}
}

// A user's own profile, and a project's document that narrows it, are shown line by line.
func TestShowAProjectsOwn(t *testing.T) {
	w := world{userFile: "profiles: {write: {spec: {max_commands: 50, environment: {set: {TOKEN: secret}}}}}",
		projectFile: "profiles: {write: {spec: {access_mode: read-only}}}"}
	c := load(t, w)
	v := c.View(c.row("write"), "/p", w.needs(spec.Claude), Found{})
	golden(t, "show.own.txt", v.Text())
	if !strings.Contains(v.JSON(), `"narrowed_by":[{"access_mode":"read-only"}]`) {
		t.Error(v.JSON())
	}
	if strings.Contains(strings.Split(v.Text(), "kept by")[1], "secret") {
		t.Error("a variable's value is among the promises")
	}
}
