package layering

import (
	"encoding/json"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sbx/spec"
)

var section = regexp.MustCompile("(?m)^### `([a-z_.]+)`$")

// TestEveryFieldIsDocumented holds docs/spec.md to spec.Fields: a section for
// each, which says whether the field is enforced today.
func TestEveryFieldIsDocumented(t *testing.T) {
	text := read(t, "docs/spec.md")
	status := map[string]string{}
	starts := section.FindAllStringSubmatchIndex(text, -1)
	for i, m := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		_, now, _ := strings.Cut(text[m[0]:end], "**Now:** ")
		now, _, _ = strings.Cut(now, "\n")
		status[text[m[2]:m[3]]] = now
	}
	fields := spec.Fields()
	if len(fields) == 0 {
		t.Fatal("spec.Fields is empty")
	}
	for _, f := range fields {
		want := "enforced"
		if f.Later {
			want = "not there yet"
		}
		if got := status[string(f.Field)]; got != want {
			t.Errorf("docs/spec.md says of %s: %q; spec.Fields: %q", f.Field, got, want)
		}
		delete(status, string(f.Field))
	}
	for name := range status {
		t.Errorf("docs/spec.md has a section on %s, which is no field", name)
	}
}

// TestEveryKeyIsDocumented holds docs/record.md to the record's schema.
func TestEveryKeyIsDocumented(t *testing.T) {
	var s struct{ Properties map[string]json.RawMessage }
	if err := json.Unmarshal([]byte(read(t, "audit/record.schema.json")), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Properties) == 0 {
		t.Fatal("the record's schema has no properties")
	}
	text := read(t, "docs/record.md")
	for key := range s.Properties {
		if !regexp.MustCompile("(?m)^\\|[^|]*`" + key + "`[^|]*\\|").MatchString(text) {
			t.Errorf("docs/record.md has no row for %s", key)
		}
	}
}

// TestLinksOfTheDocumentsLeadSomewhere follows the relative links of every page.
func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	top := root(t)
	pages, err := filepath.Glob(filepath.Join(top, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, page := range append(pages, more...) {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", filepath.Base(page), m[1])
			}
		}
	}
}

// TestSamplesInGoCompile builds each whole Go program of the documents, as a program
// outside of the module's folder that uses the module.
func TestSamplesInGoCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	fence := regexp.MustCompile("(?ms)^```go\n(.*?)^```$")
	for _, page := range []string{"docs/go.md", "docs/wrap.md"} {
		samples := fence.FindAllStringSubmatch(read(t, page), -1)
		if len(samples) == 0 {
			t.Errorf("%s has no sample in Go", page)
		}
		for i, m := range samples {
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, []byte(m[1]), 0o644); err != nil {
				t.Fatal(err)
			}
			if formatted, err := format.Source([]byte(m[1])); err != nil || string(formatted) != m[1] {
				t.Errorf("%s: sample %d is not as gofmt has it: %v", page, i+1, err)
			}
			cmd := exec.Command("go", "build", "-trimpath", "-o", os.DevNull, file)
			cmd.Dir, cmd.Env = root(t), append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: sample %d: %v\n%s", page, i+1, err, out)
			}
		}
	}
}

func read(t *testing.T, rel string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(rel)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
