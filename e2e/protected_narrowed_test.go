package e2e

import (
	"os"
	"strings"
	"testing"
)

// A document that narrows another opens nothing that the other protects, even if only the workspace
// shows that it is protected, and neither the path nor the table of names does.
func TestNarrowedProtectedNamesStay(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.write("ws/.git/HEAD", "ref: refs/heads/main\n")
	b.write("ws/.git/config", "[core]\n\trepositoryformatversion = 0\n\thooksPath = run\n")
	b.write("ws/run/pre-commit", "hook\n")
	for _, dir := range []string{"ws/.git/objects", "ws/.git/refs", "ws/inner/.git/objects", "ws/inner/.git/refs", "ws/bare/objects", "ws/bare/refs"} {
		must(t, os.MkdirAll(b.base+"/"+dir, 0o755))
	}
	b.write("ws/inner/.git/HEAD", "ref: refs/heads/main\n")
	b.write("ws/inner/.envrc", "variables\n")
	b.write("ws/bare/HEAD", "ref: refs/heads/main\n")
	b.write("ws/bare/config", "[core]\n\tbare = true\n")
	b.write("ws/plain/.envrc", "no repository\n")
	const parent = `{"access_mode": "workspace-write"}`
	write := func(path string) string { return `{"filesystem": {"write": ["` + path + `"]}}` }
	for _, c := range []struct {
		path, child string
		refused     bool
	}{
		{"run/pre-commit", write("run"), true},
		{"inner/.envrc", write("inner/.envrc"), true},
		{"inner/.envrc", `{"working_dir": "inner", "filesystem": {"write": [".envrc"]}}`, true},
		{"bare/config", write("bare/config"), true},
		{"plain/.envrc", write("plain/.envrc"), false},
	} {
		path := b.ws + "/" + c.path
		opens := strings.Replace(path, "/run/pre-commit", "/run", 1)
		script := `cat "` + path + `" >/dev/null && { echo more >>"` + path + `"; } 2>/dev/null && echo written; echo end`
		read := func() string {
			text, err := os.ReadFile(path)
			must(t, err)
			return string(text)
		}
		before := read()
		// The control: without the parent it can be written.
		b.args = []string{"--spec-json", `{"access_mode": "workspace-write", "filesystem": {"write": ["` + opens + `"]}}`}
		if r := b.run("", "/bin/sh", "-c", script).ended(); !strings.Contains(r.out, "written") {
			t.Errorf("%s, by itself: %v", c.child, r)
		}
		must(t, os.WriteFile(path, []byte(before), 0o644))
		b.args = []string{"--spec-json", parent, "--spec-json", c.child}
		r := b.run("", "/bin/sh", "-c", script)
		if c.refused != (r.code == 125 && strings.Contains(r.err, "protected (--spec-json:1:17)")) || c.refused != (read() == before) {
			t.Errorf("%s: %v", c.child, r)
		}
		must(t, os.WriteFile(path, []byte(before), 0o644))
	}
}

// Protected names are relative to the top of a mount's source, and of a workspace in a larger
// directory. They stay protected under a narrowing document that no longer has that mount, or that
// workspace, and in which the directory is only a part of a larger one.
func TestNarrowedTopsStay(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.write("ws/a/b/.envrc", "variables\n")
	must(t, os.MkdirAll(b.ws+"/a/b/c", 0o755))
	try := `cd "` + b.ws + `"; for d in . a/b; do (echo more >>"$d/.envrc") 2>/dev/null && echo "$d/.envrc"; mkdir "$d/.vscode" 2>/dev/null && echo "$d/.vscode"; done; echo end`
	const alone = `{"access_mode": "workspace-write"}`
	mounted := `{"access_mode": "workspace-write", "filesystem": {"mounts": [{"label": "l", "source": "a/b", "target": "/opt/b", "mode": "rw"}]}}`
	within := `{"access_mode": "workspace-write", "working_dir": "a/b", "filesystem": {"write": ["` + b.ws + `"]}}`
	deeper := `{"access_mode": "workspace-write", "working_dir": "a/b/c", "filesystem": {"write": ["` + b.ws + `"]}}`
	for name, c := range map[string]struct {
		specs []string
		want  string
	}{
		"the control":          {[]string{alone}, "a/b/.envrc\na/b/.vscode\nend"},
		"a mount":              {[]string{mounted}, "end"},
		"a mount, left out":    {[]string{mounted, alone}, "end"},
		"two documents on":     {[]string{mounted, alone, alone}, "end"},
		"a workspace":          {[]string{within}, "end"},
		"a workspace beneath":  {[]string{within, deeper}, "end"},
		"such a one by itself": {[]string{deeper}, "a/b/.envrc\na/b/.vscode\nend"},
	} {
		b.args = nil
		for _, s := range c.specs {
			b.args = append(b.args, "--spec-json", s)
		}
		if r := b.run("", "/bin/sh", "-c", try); r.code != 0 || strings.TrimSpace(r.out) != c.want {
			t.Errorf("%s: %v", name, r)
		}
		must(t, os.WriteFile(b.ws+"/a/b/.envrc", []byte("variables\n"), 0o644))
		must(t, os.RemoveAll(b.ws+"/a/b/.vscode"))
		must(t, os.RemoveAll(b.ws+"/.vscode"))
	}
}
