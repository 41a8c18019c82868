package main

import (
	"regexp"
	"strings"
	"testing"

	"sbx/internal/doc"
	"sbx/internal/oci"
)

// The manual has each flag that the program knows.
func TestManual(t *testing.T) {
	_, problem := oci.Parse([]string{"sbx-oci", "--sbx-none"}, nil)
	_, known, _ := strings.Cut(problem, "there are")
	flags := regexp.MustCompile(`--sbx-[a-z]+`).FindAllString(known, -1)
	if len(flags) < 4 {
		t.Fatalf("%q", problem)
	}
	for _, f := range flags {
		if !strings.Contains(manual(), ".TP\n.B "+doc.Roff(f)+" ") {
			t.Errorf("%s is missing", f)
		}
	}
}
