package e2e

import (
	"os"
	"strings"
	"testing"
)

// The suggested spec allows everything that the run was denied, with no more paths than necessary;
// the rest stays as it was.
func TestSpecSuggest(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "mkdir", "touch", "date", "ls")
	for _, c := range []struct {
		name, spec, script string
		want               []string // the changes
		notes              []string
	}{
		{"many at once", `{"access_mode":"workspace-write","filesystem":{"write":["kept"]}}`,
			"mkdir $HOME/.npm/made; echo x >$HOME/.npm/file; echo x >>$HOME/there; echo x >>$HOME/.cache/file",
			[]string{`+ filesystem.write: "{home}/.npm"`, `+ filesystem.write: "{home}/there"`, `+ filesystem.write: "{home}/.cache/file"`},
			[]string{"every change in {home}/.npm would be allowed"}},
		{"a later line makes an earlier one needless", `{"access_mode":"workspace-write"}`, "echo x >>$HOME/.cache/file; mkdir $HOME/.cache/made",
			[]string{`+ filesystem.write: "{home}/.cache"`}, nil},
		{"a secret", `{"access_mode":"workspace-write","filesystem":{"write":["{home}"]}}`, "sleep 0.5; echo x >>$HOME/.ssh/known_hosts",
			[]string{`+ filesystem.write: "{home}/.ssh/known_hosts"`}, []string{"this opens a secret"}},
		{"a budget", `{"access_mode":"workspace-write","max_commands":1}`, "date; ls; ls; mkdir x; true", []string{"- max_commands: 1", "+ max_commands: 4"}, nil},
		{"programs", `{"access_mode":"workspace-write","commands":{"deny":["touch","date"]}}`, "/bin/touch x; /bin/date; true", []string{`- commands.deny: "touch"`, `- commands.deny: "date"`}, nil},
		{"a mode", `{"access_mode":"read-only","max_commands":9}`, "echo x >new", []string{`- access_mode: "read-only"`, `+ access_mode: "workspace-write"`}, nil},
		{"nothing", `{"access_mode":"workspace-write"}`, "echo x >new", nil, []string{"# nothing that this spec denies was denied"}},
		{"what no line allows", `{"access_mode":"workspace-write","filesystem":{"hide":["{base}/out"]}}`, "mkdir {base}/out/x; true", nil, []string{"# no line allows: create a directory {base}/out/x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := adviceBox(t)
			within := strings.NewReplacer("{home}", b.home, "{base}", b.base).Replace
			first := b.sh(within(c.spec), within(c.script))
			denied := b.base + "/denied.json"
			must(t, os.Rename(b.rec, denied))
			r := b.plain(sbxPath, "spec", "suggest", denied, "--write", "suggested.json")
			var changes []string
			for _, line := range strings.Split(strings.TrimSpace(r.out), "\n") {
				if change, _, _ := strings.Cut(line, " # "); !strings.HasPrefix(line, "#") {
					changes = append(changes, strings.TrimSpace(change))
				}
			}
			if want := within(strings.Join(c.want, "\n")); r.code != 0 || strings.Join(changes, "\n") != want {
				t.Fatalf("want %s: %v, after %v %v", want, r, first, first.rec["violations"])
			}
			for _, note := range c.notes {
				if !strings.Contains(r.out, within(note)) {
					t.Errorf("not said: %s: %v", within(note), r)
				}
			}
			text, err := os.ReadFile(b.ws + "/suggested.json")
			must(t, err)
			if c.want == nil {
				return
			}
			if r := b.sh(string(text), within(c.script)); len(r.rec.list("violations")) != 0 {
				t.Errorf("%s: %v %v", text, r, r.rec["violations"])
			}
		})
	}
}

// Of several specs the last is changed, within the bounds of those before it.
func TestSpecSuggestOfSeveral(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "date", "git")
	b := adviceBox(t)
	b.write("linked/.sbx/spec.yaml", "max_commands: 1\n")
	r := b.sh("", "date; date; echo x >>$HOME/there; true")
	denied := b.base + "/denied.json"
	must(t, os.Rename(b.rec, denied))
	s := b.plain(sbxPath, "spec", "suggest", denied)
	if s.code != 0 || !strings.Contains(s.out, "+ max_commands: 2") || !strings.Contains(s.out, "# no line allows: open for writing "+b.home+"/there") ||
		!strings.Contains(s.err, b.ws+"/.sbx/spec.yaml; those before it bound it") {
		t.Errorf("%v, after %v", s, r)
	}
	if !strings.Contains(s.err, "hint: sbx spec suggest "+denied+" --write") { // a record may contain any id
		t.Error(s)
	}
}
