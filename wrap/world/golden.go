package world

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"sbx/spec"
)

// Update asks for golden files to be written anew, and then to be read.
var Update = flag.Bool("update", false, "write golden files anew")

// ProblemText is an error of spec.Problems, as golden files have it.
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

// Difference shows the lines that one text has and the other lacks.
func Difference(old, new string) string {
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
