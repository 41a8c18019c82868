package main

import (
	"sbx/spec"
	"sbx/wrap/outer"
)

// wrapTemplate prints a template by which another program wraps commands itself. stdin has
// {cwd, mounts}: the directories of the invocations to come.
func (c *call) wrapTemplate() int {
	text, err := spec.ReadFD(c.std.in, "stdin")
	if err != nil {
		return c.answerProblem(outer.Unread(err), exitUsage)
	}
	inv, err := outer.DecodeDirs("stdin", text)
	if err != nil {
		return c.answerProblem(err, exitUsage)
	}
	w := wrapping{call: c}
	of, left, err := w.make(&inv)
	var answer []byte
	if err == nil {
		answer, err = outer.AppendTemplate(nil, of, left)
	}
	if err != nil {
		return c.answerProblem(err, wrapStatus(err))
	}
	c.std.print(string(answer) + "\n")
	return exitOK
}
