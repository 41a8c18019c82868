package main

import (
	"strings"

	"sbx/spec"
)

// appendProblem appends {"error": {field, on, reason, help}, "problems": [all of
// them]} on one line.
func appendProblem(dst []byte, err error) []byte {
	all := spec.AsProblems(err)
	return append(dst, "{\"error\": "+problemJSON(all[0])+", \"problems\": ["+problemsJSON(all)+"]}"...)
}

// problemsJSON is the items of a list of problems.
func problemsJSON(all spec.Problems) string {
	items := make([]string, len(all))
	for i, p := range all {
		items[i] = problemJSON(p)
	}
	return strings.Join(items, ", ")
}

// problemJSON is a problem as a program reads it.
func problemJSON(p *spec.Problem) string {
	reason := "cannot " + p.Do
	if p.Why != "" {
		reason += ": " + p.Why
	}
	return "{\"field\": " + quoteJSON(string(p.Field)) + ", \"on\": " + quoteJSON(p.On) + ", \"reason\": " + quoteJSON(reason) + ", \"help\": " + quoteJSON(p.Help) + "}"
}
