package main

import (
	"strings"

	"sbx/spec"
)

// block is clean text of several lines, each behind an indent.
func block(s, indent string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(s, "\n")) {
		b.WriteString(indent + spec.Shown(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")) + "\n")
	}
	return b.String()
}
