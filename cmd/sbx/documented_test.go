package main

import (
	flags "flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sbx/internal/doc"
	"sbx/spec"
)

var update = flags.Bool("update", false, "write the tables of the documents")

// The tables of docs/reference/cli.md are those of the verbs.
func TestVerbsAreDocumented(t *testing.T) {
	const path, mark = "../../docs/reference/cli.md", "<!-- generated from the table of the verbs: go test ./cmd/sbx -run Documented -update -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(text), mark)
	if !ok {
		t.Fatalf("%s lacks %q", path, mark)
	}
	want := head + mark
	for _, v := range table() {
		line := strings.TrimSpace("sbx " + v.name + " " + v.args)
		if v.also != "" {
			line += "`, `sbx " + v.also
		}
		want += "\n### `" + line + "`\n\n" + strings.ToUpper(v.short[:1]) + v.short[1:] + ".\n"
		list := ""
		for _, f := range v.flags {
			if v.name == "exec" || !slices.ContainsFunc(specFlags, func(of flag) bool { return of.usage() == f.usage() && of.help == f.help }) {
				list += "- `" + f.usage() + "`: " + f.help + "\n"
			} else if list == "" {
				list = "- `--spec` to `--profile` as for `exec`\n"
			}
		}
		if list != "" {
			want += "\n" + list
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("%s is not what the table says; write it with: go test ./cmd/sbx -run Documented -update", path)
	}
}

// Each page has its exit status and an example, and those of the documents every key.
func TestManualPages(t *testing.T) {
	pages := map[string]string{"sbx": manual(), "spec(5)": documentManual("spec"), "record(5)": documentManual("record")}
	for _, v := range table() {
		pages[v.name] = v.manual()
	}
	for name, page := range pages {
		for _, section := range []string{"NAME", "EXIT STATUS", "EXAMPLES", "SEE ALSO"} {
			_, rest, _ := strings.Cut(page, "\n.SH "+section+"\n")
			if text, _, _ := strings.Cut(rest, "\n.SH "); strings.TrimSpace(text) == "" {
				t.Errorf("%s has nothing under %s", name, section)
			}
		}
		if strings.Contains(page, "Exit status:") {
			t.Errorf("%s has its exit status in its description, too", name)
		}
	}
	for _, f := range spec.Fields() {
		if !regexp.MustCompile(`(?m)^\.B ` + regexp.QuoteMeta(doc.Roff(string(f.Field))) + `$`).MatchString(pages["spec(5)"]) {
			t.Errorf("sbx-spec(5) lacks %s", f.Field)
		}
	}
	if _, err := spec.Decode("example.yaml", []byte(exampleSpec)); err != nil {
		t.Error(err)
	}
}
