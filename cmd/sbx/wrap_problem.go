package main

import (
	"sbx/internal/doc"
	"sbx/spec"
)

// appendProblem appends, on one line, {"error": {field, on, reason, help}, "problems":
// [all of them]}.
func appendProblem(dst []byte, err error) []byte {
	all := spec.AsProblems(err)
	w := &doc.Writer{B: dst}
	w.Open('{')
	w.Key("error")
	writeProblem(w, all[0])
	writeProblems(w, all)
	w.Close('}')
	return w.B
}

// writeProblems writes the member problems.
func writeProblems(w *doc.Writer, all spec.Problems) {
	doc.Values(w, "problems", all, func(p **spec.Problem) { writeProblem(w, *p) })
}

// writeProblem writes a problem for a program.
func writeProblem(w *doc.Writer, p *spec.Problem) {
	reason := "cannot " + p.Do
	if p.Why != "" {
		reason += ": " + p.Why
	}
	w.Open('{')
	w.KeyStr("field", string(p.Field))
	w.KeyStr("on", p.On)
	w.KeyStr("reason", reason)
	w.KeyStr("help", p.Help)
	w.Close('}')
}
