package profile

import (
	"slices"
	"strings"
	"testing"

	"sbx/spec"
)

const (
	userFile    = "/home/u/.config/sbx/profiles.yaml"
	projectFile = "/p/.sbx/profiles.yaml"
)

func TestExtend(t *testing.T) {
	w := world{userFile: `
profiles:
  write:
    agents: [builder, planner]  # planner moves here
    bash_policy: ["make:*"]
    spec: {limits: {memory: 2GiB}}
  look:
    extends: read-only
    why: looks at less
    agents: [glancer]
    allowed_tools: [Read]
    spec:
      access_mode: read-only
      filesystem: {hide: [secret], read: [~/notes]}
points:
  standup: look
  question: look
`}
	c := load(t, w)
	write, look := c.row("write"), c.row("look")
	if got := strings.Join(named(write.Agents), " "); got != "coder frontend-coder builder planner" {
		t.Error(got)
	}
	if got := strings.Join(write.Tools(), " "); got != "Read Grep Glob Write Edit Bash(make:*) NotebookEdit" {
		t.Error(got)
	}
	if s := write.Spec.Value; s.AccessMode.Value != spec.WorkspaceWrite || s.Limits.Value.Memory.Value != 2<<30 {
		t.Error("write's spec is replaced, not laid over")
	}
	if c.of("planner").Name != "write" || slices.Contains(named(c.row("design").Agents), "planner") {
		t.Error("planner is in two profiles")
	}
	if look.From != userFile || look.Mode.Value != spec.AskDefault || !look.Scoped.Value || strings.Join(look.Tools(), " ") != "Read" ||
		strings.Join(named(look.Agents), " ") != "glancer" {
		t.Errorf("%+v", look)
	}
	if got := strings.Join(look.Document("/p").Filesystem.Value.Read.Value, " "); got != "@system /p ~/notes" {
		t.Error(got)
	}
	if got := strings.Join(look.Document("/p").Filesystem.Value.Hide.Value, " "); got != "/p/secret" {
		t.Error(got)
	}
	if c.point("question").Profile != "look" || c.point("standup").From != userFile || c.point("task").Profile != Own {
		t.Errorf("%+v", c.Points)
	}
	if b := Builtin(); b.row("look") != nil || b.of("planner").Name != "design" {
		t.Error("the built-in catalog changed")
	}
	if row, err := c.Find("LOOK"); err != nil || row != look {
		t.Error(err)
	}
	if _, err := c.Find("nothing"); err == nil {
		t.Error("a profile that is not there")
	}
}

func TestExtendRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"profiles: {x: {}}":                                          ":1:12: profiles.x: a new profile starts from another",
		"profiles: {x: {extends: y}}":                                ":1:25: profiles.x.extends: there is no profile y",
		"profiles: {x: {extends: x}}":                                ":1:25: profiles.x.extends: there is no profile x",
		"profiles: {x: {extends: y}, y: {extends: write}}":           ":1:25: profiles.x.extends: y comes behind it",
		"profiles: {write: {extends: read-only}}":                    ":1:29: profiles.write.extends: write is there already, and starts from itself",
		"profiles: {own: {extends: write}}":                          ":1:12: profiles.own: own stands for the agent's own profile at a launch point",
		"points: {x: y}":                                             ":1:13: points.x: there is no profile y",
		"profiles: {write: {agents: [a]}, design: {agents: [b, a]}}": ":1:55: profiles.design.agents: a is there twice",
		"profiles: {write: {agents: [a, a]}}":                        ":1:32: profiles.write.agents: a is there twice",
		"profiles: {write: {colour: red}}":                           ":1:20: profiles.write.colour: unknown field",
		"profiles: {write: {spec: {network: {mode: none}}}, design: {spec: {filesystem: {write: [1]}}}}": ":1:89: profiles.design.spec.filesystem.write[0]: want a string, got a number",
	} {
		w := world{userFile: text}
		if _, err := Load(w.env()); err == nil || err.Error() != userFile+want {
			t.Errorf("%s:\n got %v\nwant %s", text, err, userFile+want)
		}
	}
}

func TestNarrow(t *testing.T) {
	w := world{"/p/docs": folder, "/p/design": folder, "/home/u/notes": folder, userFile: "profiles: {write: {agents: [builder]}}", projectFile: `
profiles:
  write:
    allowed_tools: [Read, Write, Bash]
    bash_policy: ["pnpm test:*", "git add:*"]
    permission_mode: default
    spec:
      network: {mode: none}
      filesystem: {hide: [keys]}
      max_commands: 100
  look:
    extends: write
    why: looks
    allowed_tools: [Read]
    agents: [coder, builder]
    spec: {access_mode: read-only}
  design:
    spec: {filesystem: {write: [docs]}}
  verification:
    agents: [frontend-coder]
    bash_policy: ["pnpm test:*"]
    allowed_tools: [Read, Bash]
points:
  idea-intake: design
`}
	c := load(t, w)
	write := c.row("write")
	if got := strings.Join(write.Tools(), " "); got != "Read Write Bash(pnpm test:*) Bash(git add:*)" || write.Mode.Value != spec.AskDefault {
		t.Error(got)
	}
	resolve := func(name string) spec.Resolved {
		row := c.row(name)
		found, err := row.Prepare("/p", w, w, LeaveOut)
		if err != nil {
			t.Fatal(err)
		}
		all, err := spec.Chain(row.SpecsAt("/p", found), w.env().In)
		if err != nil {
			t.Fatal(err)
		}
		return all[len(all)-1]
	}
	r := resolve("write")
	if r.AccessMode != spec.WorkspaceWrite || r.Network != spec.NetworkNone || r.Spec.MaxCommands.Value != 100 || r.Hide[0].Abs != "/p/keys" {
		t.Errorf("%+v", r)
	}
	if c.of("coder").Name != "look" || c.of("builder").Name != "look" || c.of("frontend-coder").Name != "verification" {
		t.Error("agents did not move")
	}
	r = resolve("look") // a narrowed list of writable paths also applies to a profile that extends this one
	if r.AccessMode != spec.ReadOnly || r.Network != spec.NetworkNone {
		t.Errorf("%+v", r)
	}
	r = resolve("design")
	if len(r.Write) != 1 || r.Write[0].Abs != "/p/docs" {
		t.Errorf("%+v", r.Write)
	}
	ch, err := c.Choose(Asked{Name: "coder"})
	if err != nil {
		t.Fatal(err)
	}
	if ask := ch.Ask("/p"); ask.Access != spec.ReadOnly || ask.Mode != spec.AskDefault {
		t.Errorf("%+v", ask)
	}
}

// A document that narrows a profile lists directories. Existing files may still be written, and a
// missing directory is no error.
func TestNarrowKeepsWhatExists(t *testing.T) {
	w := world{"/p/docs": folder, "/p/a.md": "", projectFile: "profiles: {design: {spec: {filesystem: {write: [docs, design], read: [\"@system\", docs, a.md]}}}}"}
	row := load(t, w).row("design")
	found, err := row.Prepare("/p", w, w, LeaveOut)
	if err != nil {
		t.Fatal(err)
	}
	docs := row.SpecsAt("/p", found)
	if got := strings.Join(docs[1].Filesystem.Value.Write.Value, " "); got != "docs /p/a.md" {
		t.Error(got)
	}
	in := w.env().In
	in.Agent = w.needs(spec.Codex)
	if _, err := spec.Chain(docs, in); err != nil {
		t.Error(err)
	}
}

func TestNarrowRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"profiles: {read-only: {allowed_tools: [Read, Write]}}":                     ":1:39: profiles.read-only.allowed_tools: read-only has no Write",
		"profiles: {write: {bash_policy: [\"make:*\"]}}":                            ":1:33: profiles.write.bash_policy: write has no Bash(make:*)",
		"profiles: {write: {bash_policy: [\"git:*\"]}}":                             ":1:33: profiles.write.bash_policy: write has no Bash(git:*)",
		"profiles: {read-only: {permission_mode: acceptEdits}}":                     ":1:41: profiles.read-only.permission_mode: acceptEdits is wider than default",
		"profiles: {write: {project_scoped: false}}":                                ":1:36: profiles.write.project_scoped: write is project-scoped",
		"profiles: {read-only: {make: [x]}}":                                        ":1:30: profiles.read-only.make: read-only does not make x",
		"profiles: {read-only: {write_existing: [\"*.go\"]}}":                       ":1:40: profiles.read-only.write_existing: read-only does not write *.go",
		"profiles: {read-only: {agents: [mine]}}":                                   ":1:33: profiles.read-only.agents: no profile outside the project has an agent mine",
		"profiles: {write: {agents: [code-reviewer]}}":                              ":1:29: profiles.write.agents: code-reviewer is an agent of read-only, and write is wider: read-only has no Write",
		"points: {question: write}":                                                 ":1:20: points.question: at question holds read-only, and write is wider: read-only has no Write",
		"points: {mine: read-only}":                                                 ":1:16: points.mine: nobody outside the project knows this launch point",
		"points: {task: read-only}":                                                 ":1:16: points.task: at task holds own, which no other profile is sure to narrow",
		"points: {question: own}":                                                   ":1:20: points.question: at question holds read-only, which no other profile is sure to narrow",
		"points: {question: mine}":                                                  ":1:20: points.question: there is no profile mine",
		"profiles: {mine: {extends: design, spec: {access_mode: workspace-write}}}": "access_mode",
		"profiles: {read-only: {spec: {access_mode: danger-full-access}}}":          "access_mode",
		"profiles: {read-only: {spec: {filesystem: {write: [.]}}}}":                 "filesystem.write",
		"profiles: {read-only: {spec: {filesystem: {read: [/etc]}}}}":               "filesystem.read",
		"profiles: {read-only: {spec: {readonly: false}}}":                          "readonly",
		"profiles: {read-only: {spec: {network: {mode: host}}}}":                    "network.mode",
		"profiles: {read-only: {spec: {best_effort: [\"*\"]}}}":                     "best_effort",

		"profiles: {read-only: {spec: {environment: {set: {ANTHROPIC_BASE_URL: x}}}}}":                 "profiles.read-only.spec.environment.set",
		"profiles: {read-only: {spec: {filesystem: {mounts: [{source: ., target: /opt, mode: ro}]}}}}": "profiles.read-only.spec.filesystem.mounts",
	} {
		w := world{projectFile: text, "/etc": folder}
		_, err := Load(w.env())
		switch {
		case err == nil:
			t.Errorf("%s: no error", text)
		case want[0] == ':' && err.Error() != projectFile+want:
			t.Errorf("%s:\n got %v\nwant %s", text, err, projectFile+want)
		case want[0] != ':' && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), projectFile+":1:")):
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestFiles(t *testing.T) {
	e := Env{Home: "/h", Config: "/c", Project: "/p"}
	if e.UserFile() != "/c/sbx/profiles.yaml" || e.ProjectFile() != "/p/.sbx/profiles.yaml" {
		t.Error(e.UserFile(), e.ProjectFile())
	}
	if e = (Env{Home: "/h", Config: "relative"}); e.UserFile() != "/h/.config/sbx/profiles.yaml" || e.ProjectFile() != "" {
		t.Error(e.UserFile())
	}
	if (Env{}).UserFile() != "" {
		t.Error("a file without a home")
	}
	if c, err := Load(Env{}); err != nil || len(c.Rows) != 4 {
		t.Error(err)
	}
}

func TestProjectDir(t *testing.T) {
	w := world{"/p": folder, "/l": "-> /p", "/f": "text", "/p/sub": folder}
	for asked, want := range map[string]string{"": "/p/sub", "..": "/p", "/p/": "/p", "/p//./sub": "/p/sub", "/l": "/l", "/l/../p": "/p", "/f": "!", "/none": "!"} {
		abs, real, err := ProjectDir(asked, "/p/sub", w)
		if want == "!" && err == nil || want != "!" && (err != nil || abs != want || real == "") {
			t.Errorf("%q: %s %s %v", asked, abs, real, err)
		}
	}
}
