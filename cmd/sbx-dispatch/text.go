package main

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes text from a ledger safe for a terminal.
func clean(s string) string {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			q := strconv.QuoteToGraphic(s)
			return q[1 : len(q)-1]
		}
	}
	return s
}

// block is clean text of several lines, each behind an indent.
func block(s, indent string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(s, "\n")) {
		b.WriteString(indent + clean(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")) + "\n")
	}
	return b.String()
}

// quote quotes text only where it is odd.
func quote(s string) string {
	if s == "" || s != clean(s) || strings.ContainsAny(s, ` "'\`) {
		return strconv.Quote(s)
	}
	return s
}
