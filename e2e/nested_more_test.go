package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the outer sandbox keeps from its command a nested one has not either; what
// it passes or sets may have another value.
func TestNestedVariables(t *testing.T) {
	n := newNest(t)
	n.env = append(n.env, "KEPT=host", "AS=host")
	r := n.box.run(`{"access_mode": "workspace-write", "environment": {"pass": ["PATH", "HOME", "A*"], "set": {"SET": "outer"}}}`, "/bin/sh", "-c", `KEPT=inside AS=inside SET=inside; export KEPT AS SET
		./sbx exec -q --effective /tmp/inner.json --spec-json '{"environment": {"set": {"AS": "asked", "AGAIN": "asked"}}}' -- /bin/sh -c 'env | grep -E "^(KEPT|AS|SET|AGAIN)=" | sort; echo end'`)
	if got := r.ended().out; got != "AGAIN=asked\nAS=asked\nSET=inside\nend\n" {
		t.Errorf("%q: %v", got, r)
	}
}

// The outer sandbox does not hide what it shows.
func TestNestedSecretsThatTheParentOpened(t *testing.T) {
	n := newNest(t)
	n.write("home/.ssh/id", "KEY")
	r, rec := n.run(`{"access_mode": "workspace-write", "filesystem": {"read": ["@system", "~/.ssh"]}}`, `{"access_mode": "workspace-write", "best_effort": ["*"]}`, "cat ~/.ssh/id; echo end")
	if rec.status("secrets") == "enforced" {
		t.Errorf("secrets are told as enforced: %v", r)
	}
}

// Another HOME inside has secrets that the outer sandbox never hid: a document that says nothing
// about them inherits, and one that requests an access mode requests more.
func TestNestedWithAnotherHome(t *testing.T) {
	n := newNestElsewhere(t)
	n.write("other/.ssh/id", "KEY\n")
	const look = "HOME=$1 ./sbx exec --effective /tmp/inner.json $2 -- cat $1/.ssh/id; echo status $?; cat /tmp/inner.json"
	for inner, want := range map[string]string{"": "KEY\nstatus 0\n", "--spec-json " + specWW: "status 125\n"} {
		r := n.box.run(specWW, "/bin/sh", "-c", look, "sh", n.base+"/other", inner)
		var rec record
		rest, ok := strings.CutPrefix(r.out, want)
		if !ok || json.Unmarshal([]byte(rest), &rec) != nil {
			t.Errorf("%q: %v", inner, r)
		} else if inner == "" && (rec.status("secrets") != "degraded" || !strings.Contains(rec.reason("secrets"), n.base+"/other/.ssh")) {
			t.Errorf("secrets: %s, %s", rec.status("secrets"), rec.reason("secrets"))
		}
	}
}

func TestNestedProtectedNamesThatTheParentOpened(t *testing.T) {
	_, rec := newNest(t).run(`{"access_mode": "workspace-write", "filesystem": {"write": [".git"]}}`, `{"access_mode": "workspace-write"}`, "echo end")
	if rec.status("protected_names") == "enforced" {
		t.Error("protected_names is told as enforced; the outer line itself is degraded, and .git is open")
	}
}

// A command whose directory is not in view starts in /. That requests nothing, and a document that
// narrows nothing runs.
func TestNestedWhereTheDirIsNotInView(t *testing.T) {
	n := newNestElsewhere(t)
	must(t, os.Mkdir(n.ws+"/in", 0o755))
	must(t, os.Rename(n.inner, n.ws+"/in/sbx"))
	n.inner = n.ws + "/in/sbx"
	r, _ := n.run(`{"filesystem": {"read": ["@system", `+quoted(n.ws+"/in")+`]}}`, `{}`, "echo end")
	r.ended()
}

// A caller who gives no document has what its parent is, in every directory.
func TestNestedInherits(t *testing.T) {
	n := newNest(t)
	must(t, os.MkdirAll(n.ws+"/sub", 0o755))
	for spec, want := range map[string]string{specWW: "here there ", specRO: ""} {
		if spec == specRO && n.private() {
			continue // the workspace is out of view
		}
		r := n.box.run(spec, "/bin/sh", "-c", `export WS=$PWD; cd sub && "$WS/sbx" exec -q --effective /tmp/inner.json -- /bin/sh -c "$1"`, "sh",
			`(echo x >here) 2>/dev/null && echo here; (echo x >"$WS/there") 2>/dev/null && echo there; pwd; echo end`)
		if got := strings.Join(strings.Fields(r.out), " "); r.code != 0 || got != want+n.ws+"/sub end" {
			t.Errorf("under %s: %q, want %q: %v", spec, got, want, r)
		}
	}
}

// A sandbox inside another one keeps its record in the private /run if the caller never had a state
// directory, or if the outer record is elsewhere.
func TestNestedRecordWithoutAStateDir(t *testing.T) {
	for _, spec := range []string{specRO, specWW} {
		b := newNestElsewhere(t)
		inner := b.inner + " exec --spec-json '" + spec + "' -- /bin/sh -c 'exit 3'; echo $?; " + b.inner + " show last --json | grep -c '\"code\": 3'"
		for _, state := range []string{"none", "one"} { // the second is the control: a private one covers it
			if r := b.sh(spec, inner).ended(); r.out != "3\n1\nend\n" {
				t.Errorf("%s, %s: %v", spec, state, r)
			}
			if state == "none" {
				b.absent("state/sbx")
				must(t, os.MkdirAll(b.base+"/state/sbx/runs", 0o700))
			}
		}
		if entries, err := os.ReadDir(b.base + "/state/sbx/runs"); err != nil || len(entries) > 0 {
			t.Errorf("%s: the host's own has %v, %v", spec, entries, err)
		}
	}
}

// check inside reports for a path what can be done there.
func TestNestedCheckTellsThePath(t *testing.T) {
	n := newNestElsewhere(t)
	n.write("ws/file", "mine\n")
	n.write("ws/.git/hooks/pre-commit", "mine\n")
	n.write("home/.ssh/id", "KEY")
	probe := func(spec string) (words map[string]string) {
		r := n.box.run(`{"access_mode": "workspace-write"}`, "/bin/sh", "-c", `for path in ./file .git/hooks/pre-commit /etc/passwd ~/.ssh /tmp /nowhere; do
			./sbx exec -q --spec-json "$1" --best-effort access_mode -- /bin/sh -c 'if [ -d "$1" ]; then set -- "$1/new"; fi; (: >>"$1") 2>/dev/null && echo writes || { test -r "$1" && echo reads || echo neither; }' sh "$path"
			./sbx check --spec-json "$1" --best-effort access_mode --path "$path"; done; echo end`, "sh", spec)
		words = map[string]string{}
		lines := strings.Split(strings.TrimSuffix(r.ended().out, "end\n"), "\n")
		for i := 0; i+1 < len(lines); i += 2 {
			path, says, _ := strings.Cut(lines[i+1], ": ")
			words[filepath.Base(path)] = lines[i] + ", " + strings.TrimSpace(strings.SplitN(says, ":", 2)[0])
		}
		return words
	}
	for spec, want := range map[string]map[string]string{
		`{}`: {"file": "writes, may be written", "pre-commit": "reads, protected, may be read", "passwd": "reads, may be read", ".ssh": "neither, hidden",
			"tmp": "writes, private, ends with the sandbox", "nowhere": "neither, may be read (nothing is there)"},
		`{"access_mode": "read-only"}`: {"file": "reads, may be read", "pre-commit": "reads, protected, may be read", "passwd": "reads, may be read", ".ssh": "neither, hidden",
			"tmp": "writes, private, ends with the sandbox", "nowhere": "neither, may be read (nothing is there)"},
	} {
		if got := probe(spec); !maps.Equal(got, want) {
			t.Errorf("%s:\n%v\nwant\n%v", spec, got, want)
		}
	}
}

// A flag adds to the inherited lists, as it adds to the default outside: to name a directory
// removes none. It cannot add what the outer sandbox lacks.
func TestNestedFlagsAdd(t *testing.T) {
	n := newNestElsewhere(t)
	n.write("home/x/old", "")
	n.write("home/.netrc", "machine\n")
	n.args = []string{"--write", n.home + "/x", "--read", n.home + "/.netrc"}
	ww := `{"access_mode": "workspace-write"}`
	both := "echo mine >file && echo mine >" + n.home + "/x/new && cat " + n.home + "/.netrc && echo end"
	for _, flags := range []string{"", "--write ../home/x", "--write .", "--read ../home/.netrc", "--write ../home/x --read ../home/.netrc"} {
		r := n.box.run(ww, "/bin/sh", "-c", "./sbx exec "+flags+" -- /bin/sh -c '"+both+"'")
		r.ended()
	}
	must(t, os.Mkdir(n.home+"/other", 0o700))
	r := n.box.run(ww, "/bin/sh", "-c", "./sbx exec --write ../home/other -- true; echo $?")
	if !strings.Contains(r.err, "(--write): cannot have "+n.home+"/other writable") || !strings.HasSuffix(r.out, "125\n") {
		t.Errorf("what the outer sandbox lacks: %v", r)
	}
}
