package main

import "sbx/spec"

// appendProblem appends {"error": {field, on, reason, help}, "problems": [all of
// them]} on one line.
func appendProblem(dst []byte, err error) []byte {
	object := func(p *spec.Problem) string {
		reason := "cannot " + p.Do
		if p.Why != "" {
			reason += ": " + p.Why
		}
		return "{\"field\": " + quoteJSON(string(p.Field)) + ", \"on\": " + quoteJSON(p.On) + ", \"reason\": " + quoteJSON(reason) + ", \"help\": " + quoteJSON(p.Help) + "}"
	}
	all := spec.AsProblems(err)
	dst = append(dst, "{\"error\": "+object(all[0])+", \"problems\": ["...)
	for i, p := range all {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, object(p)...)
	}
	return append(dst, "]}"...)
}
