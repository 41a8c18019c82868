package profile

import (
	"slices"
	"strings"
	"testing"

	"sbx/spec"
)

// wantProfiles says what the documentation promises of each profile; the data file is compared with
// it.
var wantProfiles = []struct {
	profile spec.Profile
	agents  string
	tools   string
	bash    []string // the rules that it must grant
	mode    spec.PermissionMode
	access  spec.AccessMode
	write   string
}{
	{spec.ProfileReadOnly, "code-reviewer systems-designer ux-reviewer spec-verifier e2e-analyzer qa-auditor code-explorer code-architect",
		"Read Grep Glob Bash", []string{"git log:*", "git show:*", "git diff:*", "git status:*", "git blame:*", "git ls-files:*", "git rev-parse:*", "git grep:*"}, spec.AskDefault, spec.ReadOnly, ""},
	{spec.ProfileWrite, "coder frontend-coder",
		"Read Grep Glob Write Edit Bash NotebookEdit", []string{"pnpm:*", "pytest:*", "tsc:*", "git add:*", "git commit:*"}, spec.AskDefault, spec.WorkspaceWrite, ""},
	{spec.ProfileVerification, "validator issue-verifier",
		"Read Grep Glob Bash", []string{"pnpm:*", "pytest:*", "tsc:*"}, spec.AskDefault, spec.WorkspaceWrite, ""},
	{spec.ProfileDesign, "ux-designer ux-implementer planner",
		"Read Grep Glob Write Bash", []string{"ls:*", "grep:*"}, spec.AskDefault, spec.ReadOnly, "/p/docs /p/design"},
}

func TestBuiltinProfiles(t *testing.T) {
	rows := BuiltinProfiles().Profiles
	if len(rows) != len(wantProfiles) {
		t.Fatalf("%d profiles", len(rows))
	}
	for i, want := range wantProfiles {
		r := &rows[i]
		var agents []string
		for _, a := range r.Agents {
			agents = append(agents, a.Name)
		}
		if r.Name != want.profile.String() || strings.Join(agents, " ") != want.agents ||
			strings.Join(r.AllowedTools.Value, " ") != want.tools || r.Mode.Value != want.mode || !r.Scoped.Value || !r.Why.Set {
			t.Errorf("%s: %+v", want.profile, r)
		}
		for _, b := range want.bash {
			if !slices.Contains(r.BashPolicy.Value, b) {
				t.Errorf("%s: no Bash(%s)", want.profile, b)
			}
		}
		s := r.Document("/p")
		fs := s.Filesystem.Value
		if s.AccessMode.Value != want.access || s.WorkingDir.Value != "/p" ||
			strings.Join(fs.Read.Value, " ") != "@system /p" || strings.Join(fs.Write.Value, " ") != want.write {
			t.Errorf("%s: %s", want.profile, s.Node().AppendJSON(nil, nil))
		}
		if _, err := spec.Decode("p.json", s.Node().AppendJSON(nil, nil)); err != nil {
			t.Errorf("%s is no spec: %v", want.profile, err)
		}
	}
	for _, command := range []string{"git commit -m x", "git push", "git", "find . -delete", "rm x"} {
		p, _ := spec.ParseTool("Bash(" + command + ")")
		for _, i := range []int{0, 3} {
			if slices.ContainsFunc(rows[i].BashPolicy.Value, func(b string) bool { h, ok := spec.ParseTool("Bash(" + b + ")"); return !ok || h.Covers(p) }) {
				t.Errorf("%s: Bash(%s) is granted", rows[i].Name, command)
			}
		}
	}
	bash := strings.Join(rows[1].BashPolicy.Value, " ")
	if bash != "pnpm:* pytest:* tsc:* git add:* git commit:*" || strings.Join(rows[2].BashPolicy.Value, " ") != "pnpm:* pytest:* tsc:*" {
		t.Errorf("write has %s, verification %v", bash, rows[2].BashPolicy.Value)
	}
	if got := strings.Join(rows[3].Make.Value, " "); got != "docs design" || strings.Join(rows[3].WriteExisting.Value, " ") != "*.md" {
		t.Errorf("design makes %s", got)
	}
}

func TestBuiltinPoints(t *testing.T) {
	want := "task=own parallel-task=own notification=read-only question=read-only idea-intake=design plan-creation=design verification=verification"
	var got []string
	for _, p := range BuiltinProfiles().Points {
		got = append(got, p.Point+"="+p.Profile)
	}
	if strings.Join(got, " ") != want {
		t.Errorf("got %v", got)
	}
}

// Without a project, paths stay relative: they refer to the working directory of the document that
// narrows this one.
func TestProfileSpecHere(t *testing.T) {
	rows := BuiltinProfiles().Profiles
	s := rows[slices.IndexFunc(rows, func(r ProfileRow) bool { return r.Name == spec.ProfileDesign.String() })].Document("")
	fs := s.Filesystem.Value
	if s.WorkingDir.Set || strings.Join(fs.Read.Value, " ") != "@system ." || strings.Join(fs.Write.Value, " ") != "docs design" {
		t.Errorf("%s", s.Node().AppendJSON(nil, nil))
	}
}

func TestExpand(t *testing.T) {
	r := ProfileRow{BashPolicy: spec.Some([]string{"git:*", "ls:*"})}
	for tools, want := range map[string]string{
		"Read Bash":           "Read Bash(git:*) Bash(ls:*)",
		"Bash(make:*) Bash":   "Bash(make:*) Bash(git:*) Bash(ls:*)",
		"Bash(git:*) Bash":    "Bash(git:*) Bash(ls:*)",
		"Read Read":           "Read",
		"Write(docs/**) Glob": "Write(docs/**) Glob",
	} {
		if got := strings.Join(r.Expand(strings.Fields(tools)), " "); got != want {
			t.Errorf("%s: got %s, want %s", tools, got, want)
		}
	}
	if got := (&ProfileRow{}).Expand([]string{"Bash"}); len(got) != 1 || got[0] != "Bash" {
		t.Errorf("without a policy: %v", got)
	}
}

func TestDecodeProfilesRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"profiles: {x: {alowed_tools: []}}":                                `p.yaml:1:16: profiles.x.alowed_tools: unknown field (did you mean allowed_tools?)`,
		"profiles: [x]":                                                    `p.yaml:1:11: profiles: want an object of profiles, got a list`,
		"profiles: {READ_ONLY: {}}":                                        `p.yaml:1:12: profiles.READ_ONLY: want a name in lower case with dashes, got "READ_ONLY" (did you mean read-only?)`,
		"profiles: {x: {allowed_tools: Read}}":                             `p.yaml:1:31: profiles.x.allowed_tools: want a list of strings, got a string`,
		"profiles: {x: {allowed_tools: [\"Read me\"]}}":                    `p.yaml:1:32: profiles.x.allowed_tools[0]: want a tool as Name or Name(rule), got "Read me"`,
		"profiles: {x: {bash_policy: [\"Bash(git:*)\"]}}":                  `p.yaml:1:30: profiles.x.bash_policy[0]: want what stands between the parentheses, got "Bash(git:*)" (did you mean git:*?)`,
		"profiles: {x: {permission_mode: acceptEdit}}":                     `p.yaml:1:33: profiles.x.permission_mode: want one of plan, default, acceptEdits, bypassPermissions, got "acceptEdit" (did you mean acceptEdits?)`,
		"profiles: {x: {spec: {acess_mode: read-only}}}":                   `p.yaml:1:23: profiles.x.spec.acess_mode: unknown field (did you mean access_mode?)`,
		"profiles: {x: {spec: {working_dir: .}}}":                          `p.yaml:1:36: profiles.x.spec.working_dir: a profile does not say this in its spec`,
		"profiles: {x: {spec: {network: {mode: none, allow: [\"a:1\"]}}}}": `p.yaml:1:52: profiles.x.spec.network.allow: network.mode is none, so nothing can be allowed`,
		"profiles: {x: {make: [../up]}}":                                   `p.yaml:1:23: profiles.x.make[0]: want a directory inside the project, got "../up"`,
		"profiles: {x: {make: [/abs]}}":                                    `p.yaml:1:23: profiles.x.make[0]: want a directory inside the project, got "/abs"`,
		"profiles: {x: {write_existing: [\"docs/*\"]}}":                    `p.yaml:1:33: profiles.x.write_existing[0]: want * and how a name ends, got "docs/*"`,
		"profiles: {x: {agents: [\"../a\"]}}":                              `p.yaml:1:25: profiles.x.agents[0]: want a name of letters, digits and -_.:, got "../a"`,
		"points: {task: 3}":                                                `p.yaml:1:16: points.task: want a string, got a number`,
		"prfiles: {}":                                                      `p.yaml:1:1: prfiles: unknown field (did you mean profiles?)`,
		"- x":                                                              `p.yaml:1:1: want an object, got a list`,
	} {
		f, err := DecodeProfiles("p.yaml", []byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v %v\nwant %s", text, f, err, want)
		}
	}
}
