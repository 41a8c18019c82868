package e2e

import (
	"slices"
	"strings"
	"testing"
)

// The record has the job layout among what was asked, though no document names it.
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
	asked, _, _ := strings.Cut(show.out, "\nheld\n")
	if !strings.Contains(asked, quoted(b.home)) || !strings.Contains(asked, quoted(b.out)) {
		t.Errorf("%v", show)
	}
}

// A wrapper tells of what was asked and is not held, and of nothing else.
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
