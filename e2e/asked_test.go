package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The record shows the job layout among the requests, though no document names it.
func TestJobLayoutIsAsked(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	line := func(r result, field string) string {
		for _, l := range r.rec["enforcement"].([]any) {
			if m := l.(map[string]any); m["field"] == field {
				return m["asked"].(string) + " " + m["status"].(string)
			}
		}
		return ""
	}
	if r := b.sh(specWW, "").ended(); line(r, "input") != "" || line(r, "output") != "" {
		t.Errorf("control: %v", r)
	}
	b.args = append(b.args, "--input", b.home, "--output", b.out)
	r := b.sh(specWW, "").ended()
	if line(r, "input") != b.home+" enforced" || line(r, "output") != b.out+" enforced" {
		t.Errorf("%v", r)
	}
	b.rec = b.base + "/none.json" // plain removes the record
	show := b.plain(sbxPath, "show", r.recPath)
	asked, _, _ := strings.Cut(show.out, "\nenforced\n")
	if !strings.Contains(asked, quoted(b.home)) || !strings.Contains(asked, quoted(b.out)) {
		t.Errorf("%v", show)
	}
}

// A wrapper reports the requests that it does not enforce, and nothing else.
func TestWrapTellsOfWhatWasAsked(t *testing.T) {
	b := newBox(t)
	told := func(spec string) (fields []string) {
		a, _ := b.wrap(b.invoked(nil, "true"), "--wrapper", "docker", "--image", "x", "--spec-json", spec)
		for _, l := range a.Audit.NotHeld {
			fields = append(fields, l.Field)
		}
		return fields
	}
	if got := told(`{"access_mode": "workspace-write", "max_commands": 3, "best_effort": ["*"]}`); !slices.Contains(got, "max_commands") || !slices.Contains(got, "protected_names") {
		t.Errorf("control: %v", got)
	}
	if got := told(specWW); slices.Contains(got, "max_commands") || !slices.Contains(got, "protected_names") {
		t.Errorf("no budget was asked for: %v", got)
	}
	if got := told(`{"filesystem": {"hide": ["` + b.out + `"]}}`); slices.Contains(got, "max_commands") || slices.Contains(got, "protected_names") {
		t.Errorf("nothing is protected: %v", got)
	}
}

// A line does not list the system's directories name by name because of the few secrets in them,
// but still hides these; it reports what is weaker because of that.
func TestWrapListsNoSystemDir(t *testing.T) {
	eachWrapper(t, func(t *testing.T, b *box, tool outerTool) {
		a, _ := b.wrap(b.invoked(nil, "/bin/sh", "-c", "cat /etc/shadow 2>/dev/null; cat /etc/passwd >/dev/null && echo end"), tool.flags("--wrapper")...)
		listed := 0
		for _, arg := range a.Wrapped.Args {
			if strings.HasPrefix(arg, "/etc/") {
				listed++
			}
		}
		told := slices.ContainsFunc(a.Audit.NotHeld, func(l struct{ Field, Reason string }) bool { return l.Field == "secrets" })
		if listed > 30 || os.Getuid() == 0 && tool.name == "bwrap" && !told {
			t.Errorf("%d names of /etc, told %v: %q", listed, told, a.Audit.NotHeld)
		}
		if r := a.start(b); r.code != 0 || r.out != "end\n" {
			t.Errorf("%v", r)
		}
	}, "docker", "podman", "runsc")
}
