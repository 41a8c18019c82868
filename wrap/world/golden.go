package world

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"sbx/spec"
)

var update = flag.Bool("update", false, "write golden files anew")

// Golden compares a text with a file. With -update it writes the file, for a person to read.
func Golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\nwrite it with: go test -run Golden -update, and read it", err)
	}
	if string(want) != got {
		t.Errorf("%s changed:\n%s", file, difference(string(want), got))
	}
}

// ProblemText returns the text of a spec.Problems error as golden files have it.
func ProblemText(t *testing.T, err error) string {
	t.Helper()
	var all spec.Problems
	switch e := err.(type) {
	case spec.Problems:
		all = e
	case *spec.Problem:
		all = spec.Problems{e}
	default:
		t.Fatalf("%T is no problem: %v", err, err)
	}
	text := ""
	for _, p := range all {
		text += p.Error() + "\n"
		if p.Help != "" {
			text += "  help: " + p.Help + "\n"
		}
	}
	return text
}

// difference shows the lines that one text has and the other lacks.
func difference(old, new string) string {
	was, is := strings.Split(old, "\n"), strings.Split(new, "\n")
	var b strings.Builder
	for _, l := range was {
		if !slices.Contains(is, l) {
			b.WriteString("- " + l + "\n")
		}
	}
	for _, l := range is {
		if !slices.Contains(was, l) {
			b.WriteString("+ " + l + "\n")
		}
	}
	if b.Len() == 0 {
		return "the same lines in another order"
	}
	return b.String()
}
