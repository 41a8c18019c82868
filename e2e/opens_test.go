package e2e

import (
	"os"
	"strings"
	"testing"
)

// openedBox returns a workspace with protected paths in it, and with directories that lead to some.
func openedBox(t *testing.T) *box {
	b := newBox(t)
	b.repository(b.base + "/one")
	for _, dir := range []string{"", "/repo", "/deep/repo", "/two/a/x", "/two/a/y"} {
		must(t, os.CopyFS(b.ws+dir, os.DirFS(b.base+"/one")))
	}
	b.write("ws/.claude/settings.json", "{}")
	return b
}

// The line that is said to let a protected name come or go does that; there is none where
// nothing in filesystem.write would. wrap.TestExplain has the names.
func TestTheLineThatOpensAProtectedNameDoes(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "git", "mv", "mkdir", "ln", "tee", "perl")
	const away = "perl -e 'rename $ARGV[0], $ARGV[1] or exit 1' " // mv(1) copies if it may not rename
	for script, want := range map[string]string{
		"mkdir .git/modules":                       ".git",
		"ln -s file .git/link":                     ".git",
		"mv repo moved":                            "repo/.git",
		away + "deep/repo moved":                   "deep/repo/.git", // from one mount to another
		away + "deep/repo/.git moved":              "deep/repo/.git",
		away + "two/a moved":                       "",
		"git config a.b c":                         ".git/config",
		"mkdir 'a b'; echo x >'a b/.git'":          "a b/.git",
		"tee /proc/self/cwd/.mcp.json </dev/null":  "", // the way there is refused
		"mv .claude other":                         "",
		"mv $PWD $PWD-moved && mv $PWD-moved $PWD": "",
	} {
		if out := openedBox(t).plain("/bin/sh", "-ec", script); out.code != 0 {
			t.Fatalf("the control: %s: %v", script, out)
		}
		b := openedBox(t)
		r := b.run(specWW, "/bin/sh", "-ec", script)
		list := r.rec.list("violations")
		if r.code == 0 || len(list) != 1 || list[0].text("rule") != "protected_names" {
			t.Errorf("%s: %v", script, r)
			continue
		}
		allow := ""
		if want != "" {
			allow = `filesystem.write: ["` + want + `"]`
		}
		if got := list[0].text("allow_with"); got != allow {
			t.Errorf("%s: %q, not %q", script, got, allow)
		}
		if strings.Contains(r.err, "would allow") != (want != "") {
			t.Errorf("%s: %s", script, r.err)
		}
		if want != "" {
			r := openedBox(t).run(specWith(specWW, `"filesystem":{"write":[`+quoted(want)+`]}`), "/bin/sh", "-ec", script)
			if r.code != 0 {
				t.Errorf("%s, with %s: %v", script, want, r)
			}
		}
	}
}

// If no line of filesystem.write opens a path, none is suggested: for an open with RESOLVE_IN_ROOT,
// a program of commands.allow, the document of the spec itself.
func TestNoLineIsNamedWhereNoneAllows(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc", "rm")
	b := newBox(t)
	b.inBox("x", 0o755)
	r := b.run(specWW, "./x", "unseen")
	seen := false
	for _, v := range r.rec.list("violations") {
		if v.text("action") == "open with RESOLVE_IN_ROOT" {
			seen = true
			if v.text("allow_with") != "" {
				t.Errorf("an open in a root: %v", v)
			}
		}
	}
	if !seen {
		t.Errorf("no open in a root: %v", r)
	}
	b.args = []string{"--spec", b.ws + "/spec.json"}
	for _, spec := range []string{specWW, specWith(specWW, `"filesystem":{"write":["x","spec.json"]}`)} {
		b.write("ws/spec.json", spec)
		r = b.run(specWith(spec, `"commands":{"allow":["sh","rm","./x"]}`), "/bin/sh", "-c", "echo >>x; rm x; echo >>spec.json; rm spec.json; :")
		rules := map[string]string{b.ws + "/x": "commands.allow", b.ws + "/spec.json": "protected_names"}
		n := 0
		for _, v := range r.rec.list("violations") {
			n += v.whole("count")
			if v.text("rule") != rules[v.text("target")] || v.text("allow_with") != "" {
				t.Errorf("%v", v)
			}
		}
		if n != 4 {
			t.Errorf("%d refusals: %v", n, r)
		}
	}
}
