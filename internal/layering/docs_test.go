package layering

import (
	"bytes"
	"encoding/json"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"sbx/spec"
	"sbx/spec/profile"
	"sbx/spec/workshop"
)

// pages returns the documents for users, by their paths.
func pages(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{"*.md", "*/README.md", "cmd/*/README.md", "docs/*/*.md", "sdk/*/README.md", "spec/profile/README.md", "spec/workshops.md", "testdata/*/README.md"} {
		found, err := filepath.Glob(filepath.Join(root(t), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			rel, err := filepath.Rel(root(t), path)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, rel)
		}
	}
	if len(list) < 40 {
		t.Fatalf("%d pages: the documents were not found", len(list))
	}
	return list
}

// block is a block of code in a page.
type block struct{ language, text string }

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

func blocks(text string) (list []block) {
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		list = append(list, block{m[1], m[2]})
	}
	return list
}

// TestEveryFieldIsDocumented compares docs/reference/spec.md with spec.Fields: it has a section for
// each field, with an example that is a valid spec and sets the field.
func TestEveryFieldIsDocumented(t *testing.T) {
	sections := map[string]string{}
	for _, part := range strings.Split(read(t, "docs/reference/spec.md"), "\n### `")[1:] {
		name, text, _ := strings.Cut(part, "`\n")
		sections[name] = text
	}
	fields := spec.Fields()
	if len(fields) == 0 {
		t.Fatal("spec.Fields is empty")
	}
	for _, f := range fields {
		text, ok := sections[string(f.Field)]
		if !ok {
			t.Errorf("docs/reference/spec.md has no section on %s", f.Field)
			continue
		}
		delete(sections, string(f.Field))
		if f.Later != strings.Contains(text, "Not enforced yet") {
			t.Errorf("docs/reference/spec.md on %s: Later is %v", f.Field, f.Later)
		}
		example := blocks(text)
		if len(example) == 0 {
			t.Errorf("docs/reference/spec.md has no example of %s", f.Field)
			continue
		}
		s, err := spec.Decode("example", []byte(example[0].text))
		if err != nil {
			t.Errorf("the example of %s: %v", f.Field, err)
			continue
		}
		if !slices.Contains(s.Asked(), f.Field) {
			t.Errorf("the example of %s does not set it", f.Field)
		}
	}
	for name := range sections {
		t.Errorf("docs/reference/spec.md has a section on %s, which is no field", name)
	}
}

// TestTheWholeRecordIsDocumented checks the records of docs/reference/record.md, without their
// comments: they are valid by the schema, and have every key of it.
func TestTheWholeRecordIsDocumented(t *testing.T) {
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(read(t, "audit/record.schema.json")))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("record", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("record")
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, b := range blocks(read(t, "docs/reference/record.md")) {
		if b.language != "jsonc" {
			continue
		}
		text := regexp.MustCompile(`(?m)(^|\s)// .*$`).ReplaceAllString(b.text, "")
		text = strings.ReplaceAll(text, `9c1e…"`, strings.Repeat("9c1e", 16)+`"`)
		record, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err, text)
		}
		if err := compiled.Validate(record); err != nil {
			t.Error(err)
		}
		for key := range record.(map[string]any) {
			keys[key] = true
		}
	}
	properties := schema.(map[string]any)["properties"].(map[string]any)
	if len(properties) < 30 {
		t.Fatalf("the schema has %d properties", len(properties))
	}
	for key := range properties {
		if !keys[key] {
			t.Errorf("the records of docs/reference/record.md lack %s", key)
		}
	}
}

// TestSamplesDecode reads each sample in YAML and JSON by the reader for which it is meant, and
// compares the editors' schema with the specs. A sample is a spec unless the name of its file, or a
// list, says otherwise.
func TestSamplesDecode(t *testing.T) {
	schema := editorsSchema(t)
	specs := 0
	for _, page := range pages(t) {
		for _, b := range blocks(read(t, page)) {
			first, _, _ := strings.Cut(b.text, "\n")
			switch {
			case b.language != "yaml" && b.language != "json":
			case strings.Contains(b.text, "profiles:\n"):
				if _, err := profile.DecodeProfiles(page, []byte(b.text)); err != nil {
					t.Errorf("%s: %v", page, err)
				}
			case first == "# workshop.yaml":
				if _, _, err := workshop.DecodeWorkshop(page, []byte(b.text)); err != nil {
					t.Errorf("%s: %v", page, err)
				}
			case strings.HasPrefix(b.text, "version: 1\n"): // a broker's document, which e2e starts
			case page == "packaging/README.md": // a workflow's and a devcontainer's
			default:
				specs++
				if _, err := spec.Decode(page, []byte(b.text)); err != nil {
					t.Errorf("%v:\n%s", err, b.text)
				}
				if err := schema(b.text); err != nil {
					t.Errorf("%s: %v:\n%s", page, err, b.text)
				}
			}
		}
	}
	if specs < 40 {
		t.Errorf("%d specs in the documents: they were not read", specs)
	}
}

// editorsSchema does what an editor does with a spec: it finds the schema by the catalog's entry,
// and validates the YAML.
func editorsSchema(t *testing.T) func(text string) error {
	t.Helper()
	var entry struct {
		Name, Description, URL string
		FileMatch              []string
	}
	if err := json.Unmarshal([]byte(read(t, "packaging/schemastore/catalog-entry.json")), &entry); err != nil {
		t.Fatal(err)
	}
	if entry.Name == "" || entry.Description == "" || !slices.Equal(entry.FileMatch, []string{"**/.sbx/spec.yaml"}) {
		t.Errorf("the entry for SchemaStore: %+v", entry)
	}
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(spec.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	if id := schema.(map[string]any)["$id"]; entry.URL != id {
		t.Errorf("the entry for SchemaStore leads to %s, the schema is %s", entry.URL, id)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(entry.URL, schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile(entry.URL)
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) error {
		b, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			return err
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			return err
		}
		return compiled.Validate(v)
	}
}

// TestEditorsFindFaults checks that the validator that reads the samples rejects other documents.
func TestEditorsFindFaults(t *testing.T) {
	schema := editorsSchema(t)
	for text, good := range map[string]bool{
		"access_mode: read-only\nlimits: {timeout: 10m}": true, "$schema: urn:sbx:spec": true,
		"access_mod: read-only": false, "access_mode: all": false, "limits: {timeout: soon}": false, "max_commands: -1": false,
	} {
		if err := schema(text); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// notRun are the blocks of commands that no test executes, by page: how many, and why.
var notRun = map[string]struct {
	count int
	why   string
}{
	"CONTRIBUTING.md":                   {1, "they build and test the whole of sbx"},
	"HACKING.md":                        {5, "they test the whole of sbx, and need virtual machines and engines"},
	"README.md":                         {1, "they install"},
	"cmd/sbx-oci/README.md":             {1, "they need engines"},
	"bench/README.md":                   {1, "it takes minutes"},
	"dispatch/README.md":                {1, "Intercore is in no registry"},
	"docs/how-to/caches.md":             {1, "they fetch from registries"},
	"docs/how-to/claude.md":             {2, "the agent and its model"},
	"docs/how-to/codex.md":              {1, "the agent and its model"},
	"docs/how-to/embed-go.md":           {1, "go fetches what sbx is built from"},
	"docs/how-to/gemini.md":             {1, "the agent and its model"},
	"docs/how-to/limits-and-cgroups.md": {1, "it needs a user's systemd"},
	"docs/reference/narrowing.md":       {1, "the form of the line alone"},
	"spec/workshops.md":                 {1, "a file in the old style"},
	"docs/tutorial/first-agent.md":      {3, "the agent and its model"},
	"sdk/python/README.md":              {1, "it installs a package"},
	"sdk/typescript/README.md":          {1, "it installs packages"},
	"testdata/clients/README.md":        {-1, "they run the agents"},
	"wrap/README.md":                    {1, "it needs Docker"},
}

// TestCommandsAreRun checks that every block of commands, except those of notRun, has the language
// console, which e2e.TestDocs executes.
func TestCommandsAreRun(t *testing.T) {
	for _, page := range pages(t) {
		text := read(t, page)
		count := 0
		for _, b := range blocks(text) {
			if b.language == "sh" && !strings.HasPrefix(b.text, "# job.sh\n") {
				count++
			}
			if b.language == "" {
				t.Errorf("%s: a block of no language:\n%s", page, b.text)
			}
			if b.language != "console" && strings.Contains("\n"+b.text, "\n$ ") {
				t.Errorf("%s: a transcript that is no console:\n%s", page, b.text)
			}
		}
		if want := notRun[page].count; count != want && want >= 0 {
			t.Errorf("%s has %d blocks of commands that are not run, %d are listed", page, count, want)
		}
		if m := regexp.MustCompile(`(?m)^    +(\$ |sbx |sudo ).*$`).FindString(fence.ReplaceAllString(text, "")); m != "" {
			t.Errorf("%s: a command outside of a block: %s", page, m)
		}
	}
}

// TestSentencesBeginWithANoun rejects sentences that begin with what or who: they lack a subject.
func TestSentencesBeginWithANoun(t *testing.T) {
	start := regexp.MustCompile(`(?m)(?:^|[.] |^- )(?:What|Who) .*$`)
	for _, page := range pages(t) {
		if page == "README.md" || page == "SECURITY.md" || strings.HasPrefix(page, "docs/") {
			if m := start.FindString(fence.ReplaceAllString(read(t, page), "")); m != "" {
				t.Errorf("%s: %s", page, m)
			}
		}
	}
}

// maxWords bounds how much a user can read about sbx: docs/ and SECURITY.md.
const maxWords = 20000

func TestDocumentsStayShort(t *testing.T) {
	words := 0
	for _, page := range pages(t) {
		if page == "SECURITY.md" || strings.HasPrefix(page, "docs/") {
			words += len(regexp.MustCompile(`\S*[\pL\pN]\S*`).FindAllString(read(t, page), -1))
		}
	}
	t.Logf("%d words", words)
	if words > maxWords {
		t.Errorf("docs/ and SECURITY.md have %d words, more than %d", words, maxWords)
	}
}

// TestChangelogIsByVersion checks the order: first the unreleased changes, then each version with
// its date, the newest first. Each section is one of Keep a Changelog.
func TestChangelogIsByVersion(t *testing.T) {
	version := regexp.MustCompile(`^\[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$`)
	var versions []string
	for i, part := range strings.Split(read(t, "CHANGELOG.md"), "\n## ")[1:] {
		title, text, _ := strings.Cut(part, "\n")
		if m := version.FindStringSubmatch(title); m != nil && i > 0 {
			versions = append(versions, m[1])
			if words := len(strings.Fields(text)); words > 1000 {
				t.Errorf("%s has %d words: say what users notice", m[1], words)
			}
		} else if i > 0 || title != "[Unreleased]" {
			t.Errorf("CHANGELOG.md: the title %q", title)
		}
		for _, section := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(text, -1) {
			if !slices.Contains([]string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}, section[1]) {
				t.Errorf("CHANGELOG.md: the section %q", section[1])
			}
		}
	}
	if len(versions) == 0 {
		t.Error("CHANGELOG.md has no version")
	}
}

// TestLinksOfTheDocumentsLeadSomewhere follows the relative links of every page, also to headings.
func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	drop := regexp.MustCompile(`[^\pL\pN_ -]`)
	for _, page := range append(pages(t), "docs/README.md") {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(read(t, page), ""), -1) {
			to := page
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(page), m[1])
			}
			if _, err := os.Stat(filepath.Join(root(t), to)); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
				continue
			}
			if m[2] == "" {
				continue
			}
			found := false
			for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(read(t, to), ""), -1) {
				anchor := strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")
				found = found || anchor == m[2]
			}
			if !found {
				t.Errorf("%s links to %s#%s, and there is no such heading", page, to, m[2])
			}
		}
	}
}

// TestSamplesInGoCompile builds each whole Go program of the documents, as a program outside of the
// module's directory that uses the module.
func TestSamplesInGoCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	goFence := regexp.MustCompile("(?ms)^```go\n(.*?)^```$")
	for _, page := range []string{"docs/how-to/embed-go.md", "wrap/README.md"} {
		samples := goFence.FindAllStringSubmatch(read(t, page), -1)
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
