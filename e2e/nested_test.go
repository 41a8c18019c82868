package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// nest is an sbx inside an sbx: a copy of the program in the workspace, which every spec has in
// view.
type nest struct {
	*box
	inner string // the program inside
}

func newNest(t *testing.T) *nest {
	t.Helper()
	return nestIn(t, newBox(t))
}

// newNestElsewhere returns a nest that a read-only sandbox has in view.
func newNestElsewhere(t *testing.T) *nest {
	t.Helper()
	if elsewhere == "" {
		t.Skip("all that this user may write is private inside")
	}
	return nestIn(t, newBoxElsewhere(t))
}

func nestIn(t *testing.T, b *box) *nest {
	t.Helper()
	needSandbox(t)
	n := &nest{b, b.ws + "/sbx"}
	text, err := os.ReadFile(sbxPath)
	must(t, err)
	must(t, os.WriteFile(n.inner, text, 0o755))
	return n
}

// run runs a script in a sandbox in a sandbox. The result has the inner record, which is printed
// after a marker, since its directory is private.
func (n *nest) run(outer, inner, script string) (r result, record record) {
	n.t.Helper()
	const word = "--- the inner record\n"
	rec := "/tmp/" + filepath.Base(n.base) + ".json" // the host's own under a spec that constrains nothing
	defer os.Remove(rec)
	r = n.box.run(outer, "/bin/sh", "-c", n.inner+` exec --effective `+rec+` --spec-json "$1" -- /bin/sh -c "$2"; status=$?
echo "`+strings.TrimSpace(word)+`"; cat `+rec+`; exit $status`, "sh", inner, script)
	out, text, ok := strings.Cut(r.out, word)
	if !ok {
		n.t.Fatalf("the outer sandbox did not come to its end: %v", r)
	}
	r.out = out
	if err := json.Unmarshal([]byte(text), &record); err != nil {
		n.t.Fatalf("the inner record: %v: %q; %v", err, text, r)
	}
	return r, record
}

// by returns the mechanism that a line names.
func (r record) by(field string) string {
	for _, l := range r.list("enforcement") {
		if l.text("field") == field {
			return l.text("by")
		}
	}
	return ""
}

// If the outer sandbox is at least as strict, it enforces the request.
func TestNestedHeldByParent(t *testing.T) {
	for _, mode := range []string{"read-only", "workspace-write"} {
		t.Run(mode, func(t *testing.T) {
			n := newNestElsewhere(t)
			spec := `{"access_mode": "` + mode + `"}`
			r, rec := n.run(spec, spec, "echo mine >"+n.ws+"/new; cat "+n.ws+"/new; echo end")
			r.ended()
			for _, field := range []string{"access_mode", "network", "secrets", "private_folders", "processes"} {
				rec.hasStatus(t, field, "enforced")
				if by := rec.by(field); by != "parent" {
					t.Errorf("%s is held by %q", field, by)
				}
			}
			if rec.text("access_mode") != mode {
				t.Errorf("access_mode is %q", rec.text("access_mode"))
			}
			rec.hasStatus(t, "record", "degraded") // the inner one lies where the command may write
			if wrote := strings.Contains(r.out, "mine"); wrote != (mode == "workspace-write") {
				t.Errorf("the workspace could be written: %v; %v", wrote, r)
			}
		})
	}
}

// What is narrower cannot be held there, and what is wider is an escalation: both are
// refused with the reason. wrap.TestInside has the fields.
func TestNestedRefuses(t *testing.T) {
	for _, c := range []struct{ outer, inner, word string }{
		{`{"access_mode": "workspace-write"}`, `{"access_mode": "read-only"}`, "is writable too"},
		{`{"access_mode": "workspace-write", "readonly": true, "filesystem": {"read": ["@system", "."]}}`, `{"access_mode": "workspace-write"}`, "the parent"},
	} {
		n := newNest(t)
		r, rec := n.run(c.outer, c.inner, "touch "+n.ws+"/ran; echo end")
		r.refused("access_mode")
		n.absent("ws/ran")
		if !strings.Contains(r.err, c.word) || rec.text("state") != "refused" || rec.text("error", "field") != "access_mode" {
			t.Errorf("%s: %v; the inner record says %v of %v", c.inner, r, rec["state"], rec["error"])
		}
	}
}

// If the document accepts less, the record reports that.
func TestNestedBestEffort(t *testing.T) {
	n := newNest(t)
	r, rec := n.run(`{"access_mode": "workspace-write"}`, `{"access_mode": "read-only", "best_effort": ["access_mode"]}`, "echo end")
	r.ended()
	rec.hasStatus(t, "access_mode", "degraded")
	if !strings.Contains(rec.reason("access_mode"), "is writable too") {
		t.Errorf("%q, %v", rec.reason("access_mode"), rec["access_mode"])
	}
	// Landlock enforces its part.
	n = newNestElsewhere(t)
	r, _ = n.run(`{"access_mode": "workspace-write"}`, `{"access_mode": "read-only", "best_effort": ["access_mode"]}`,
		"touch "+n.ws+"/new 2>/dev/null && echo written; touch /tmp/new && echo private; echo end")
	if strings.Contains(r.ended().out, "written") || !strings.Contains(r.out, "private") {
		t.Errorf("%v", r)
	}
	if r, _ = n.run(`{"access_mode": "workspace-write"}`, `{}`, "touch "+n.ws+"/new && echo written; echo end"); !strings.Contains(r.ended().out, "written") {
		t.Errorf("not even without: %v", r)
	}
}

// The command can neither change nor create the file that describes the outer sandbox to the inner
// sbx.
func TestNestedParentCannotBeForged(t *testing.T) {
	n := newNest(t)
	file := "/run/sbx/parent.json"
	tries := []string{"write|" + file, "unlink|" + file, "create|/run/sbx/new", "rename|/run/sbx|/run/old", "rename|/tmp/forged|" + file}
	got := n.tries(`{"access_mode": "workspace-write"}`, append(tries, "open|"+file)...)
	for _, a := range tries {
		if w := got[a]; w != "EROFS" && w != "EBUSY" && w != "EACCES" && w != "ENOENT" && w != "EXDEV" {
			t.Errorf("%s: %s", a, w)
		}
	}
	if got["open|"+file] != "ok" {
		t.Errorf("the file is not there: %s", got["open|"+file])
	}
}

// Nor does such a file count if there is no outer sandbox.
func TestNestedForgedParentOnTheHost(t *testing.T) {
	if !isRoot() {
		t.Skip("only root can make it")
	}
	needSandbox(t)
	b := newNestElsewhere(t)
	// In a mount namespace, since other sandboxes of this host must not see it.
	b.box.host = []string{"unshare", "--mount", "sh", "-c", `mount -t tmpfs forged /run && mkdir /run/sbx && printf %s "$0" >/run/sbx/parent.json && exec "$@"`,
		`{"version": 1, "access_mode": "read-only", "network": "none"}`}
	try := "write|" + b.write("out/file", "host\n")
	r := b.box.run(`{"access_mode": "read-only"}`, b.probe(), "try", try).ended()
	if by := r.rec.by("access_mode"); by == "parent" || r.lines()[try] == "ok" {
		t.Errorf("a forged parent was believed: %v", r)
	}
}

// The filter of the inner sandbox adds to the outer one's.
func TestNestedFiltersAddUp(t *testing.T) {
	n := newNest(t)
	r, rec := n.run(`{"access_mode": "workspace-write"}`, `{"access_mode": "workspace-write"}`, "grep Seccomp_filters /proc/self/status; echo end")
	r.ended()
	if !strings.Contains(r.out, "Seccomp_filters:\t2") {
		t.Errorf("%v", r)
	}
	rec.hasStatus(t, "side_doors", "enforced")
}

// An inner sandbox has its own records and sees none of the host's.
func TestNestedState(t *testing.T) {
	n := newNest(t)
	n.write("state/sbx/runs/old/effective.json", "{}")
	r := n.box.run(`{"access_mode": "workspace-write"}`, "/bin/sh", "-c", n.inner+` exec --spec-json '{"access_mode": "workspace-write"}' -- /bin/true && find "$XDG_STATE_HOME/sbx" -name effective.json | wc -l; ls -d "$XDG_STATE_HOME/sbx/runs/old" 2>/dev/null; echo end`)
	r.ended()
	if !strings.HasPrefix(strings.TrimSpace(r.out), "1\nend") {
		t.Errorf("the inner records: %v", r)
	}
}
