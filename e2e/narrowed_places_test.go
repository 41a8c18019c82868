package e2e

import (
	"os"
	"strings"
	"testing"
)

// A document that starts elsewhere, or writes less, opens nothing that the one above it hides: not
// by a link that a command may have left, not if a secret is a link itself, and not in a private
// directory.
func TestNarrowedPlacesOpenNothing(t *testing.T) {
	needSandbox(t)
	b := boxIn(t, elsewhere)
	b.write("home/.netrc", "SECRET")
	b.write("data/keys/id", "SECRET")
	for _, dir := range []string{"/ws/sub", "/data/keys/sub"} {
		must(t, os.MkdirAll(b.base+dir, 0o755))
	}
	must(t, os.Symlink("../home/.netrc", b.ws+"/netrc"))
	must(t, os.Symlink("../data/keys", b.base+"/home/.ssh"))
	read := func(args ...string) result {
		b.args = args
		return b.run("", "/bin/sh", "-c", "cat "+b.base+"/home/.netrc "+b.base+"/data/keys/id 2>/dev/null; echo; echo end")
	}
	dir := func(rel string) string { return `{"working_dir": "` + b.base + "/" + rel + `"}` }
	shown := func(path string) string {
		return `{"access_mode": "read-only", "working_dir": "` + b.ws + `", "filesystem": {"read": ["/", "` + path + `"]}}`
	}
	written := `{"filesystem": {"read": ["/", "` + b.ws + `/netrc"], "write": ["` + b.ws + `"]}}`
	// A path that is named itself is in view, wherever the command starts.
	for _, docs := range [][]string{{shown(b.base + "/home/.netrc")}, {shown(b.base + "/home/.netrc"), dir("ws/sub")}} {
		args := []string{}
		for _, d := range docs {
			args = append(args, "--spec-json", d)
		}
		if r := read(args...).ended(); !strings.Contains(r.out, "SECRET") {
			t.Errorf("the control: %v", r)
		}
	}
	for _, docs := range [][2]string{
		{shown(b.ws + "/netrc"), dir("ws/sub")},
		{shown(b.ws + "/netrc"), shown(b.base + "/home/.netrc")},
		{written, `{"filesystem": {"write": []}}`},
		{`{"access_mode": "read-only"}`, dir("data/keys/sub")},
		{`{"filesystem": {"read": ["/"]}}`, dir("data/keys/sub")},
	} {
		if r := read("--spec-json", docs[0], "--spec-json", docs[1]); strings.Contains(r.out, "SECRET") || r.code != 125 && !strings.Contains(r.out, "end\n") {
			t.Errorf("%s under %s: %v", docs[1], docs[0], r)
		}
	}
	tmp, err := os.MkdirTemp("/tmp", "")
	must(t, err)
	defer os.RemoveAll(tmp)
	must(t, os.Chmod(tmp, 0o755))
	b.args = []string{"--spec-json", `{"access_mode": "read-only", "working_dir": "` + tmp + `"}`}
	b.run("", "/bin/sh", "-c", "test . -ef "+tmp+" && echo end").ended()
	b.args = []string{"--spec-json", `{"access_mode": "read-only"}`, "--spec-json", `{"working_dir": "` + tmp + `"}`}
	if r := b.run("", "/bin/true"); r.code != 125 || !strings.Contains(r.err, "the parent has /tmp private and empty") {
		t.Errorf("a directory of /tmp: %v", r)
	}
}

// A workshop shows its tree and makes it writable, and nothing else in its parent's lists; and a
// worker's list replaces all that it may write.
func TestNarrowedByAWorkshopAlone(t *testing.T) {
	needSandbox(t)
	b := boxIn(t, elsewhere)
	b.write("out/file", "beside")
	b.write("ws/a/f", "")
	b.write("ws/b/f", "")
	parent := `{"filesystem": {"read": ["@system", "` + b.base + `"], "write": ["` + b.base + `"], "mounts": [{"label": "l", "source": "` + b.out + `", "target": "` + b.ws + `/b", "mode": "ro"}]}}`
	workshop := `{"sandbox": {"root": "` + b.ws + `"}}`
	script := "cat " + b.out + "/file " + b.ws + "/b/file; for f in " + b.out + "/new " + b.ws + "/new " + b.ws + "/a/new; do echo > $f && echo wrote $f && rm $f; done; echo end"
	for _, c := range []struct {
		docs []string
		want string
	}{
		{[]string{parent}, "beside beside out/new ws/new ws/a/new"},
		{[]string{workshop}, "ws/new ws/a/new"},
		{[]string{parent, workshop}, "ws/new ws/a/new"},
		{[]string{parent, `{"sandbox": {"root": "` + b.ws + `", "readonly": true}}`}, ""},
		{[]string{workshop, `{"filesystem": {"write": ["a"]}}`}, "ws/a/new"},
		{[]string{workshop, `{"filesystem": {"write": ["a"]}}`, `{}`}, "ws/a/new"},
	} {
		b.args = nil
		for _, d := range c.docs {
			b.args = append(b.args, "--spec-json", d)
		}
		r := b.run("", "/bin/sh", "-c", script+" 2>/dev/null").ended()
		did := strings.ReplaceAll(strings.ReplaceAll(r.out, "wrote "+b.base+"/", ""), "beside", "beside ")
		if got := strings.Join(strings.Fields(strings.TrimSuffix(strings.TrimSpace(did), "end")), " "); got != c.want {
			t.Errorf("%s: can %q, want %q; %v", c.docs, got, c.want, r)
		}
	}
}
