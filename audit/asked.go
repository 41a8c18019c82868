package audit

import (
	"errors"

	"sbx/internal/doc"
	"sbx/spec"
)

// Asked is what a record contains about how its run was requested, and what it was denied.
type Asked struct {
	ID         string
	Argv       []string
	Cwd        string
	Documents  []*spec.Node // as written, but redacted; at least one
	Sources    []string     // the name of each document
	Violations []Violation
}

// AskedOf reads the Asked of a record.
func AskedOf(v View) (*Asked, error) {
	n := v.Node
	a := &Asked{ID: Text(n.Get("id")), Cwd: Text(n.Get("command").Get("cwd"))}
	for _, word := range doc.Items(n.Get("command").Get("argv")) {
		a.Argv = append(a.Argv, Text(word))
	}
	switch docs := n.Get("requested"); {
	case n.Get("profile").Get("name") != nil:
		return nil, errors.New("its spec is a profile's, which is not a file of its own")
	case docs == nil || len(a.Argv) == 0 || a.Cwd == "":
		return nil, errors.New("the record does not say what was requested")
	case docs.Kind == spec.List:
		a.Documents = docs.Items
	default:
		a.Documents = []*spec.Node{docs}
	}
	for _, s := range doc.Items(n.Get("sources")) {
		a.Sources = append(a.Sources, Text(s))
	}
	if len(a.Sources) != len(a.Documents) || len(a.Documents) == 0 {
		return nil, errors.New("the record does not say what was requested")
	}
	for _, line := range doc.Items(n.Get("violations")) {
		count := Whole(line.Get("count"))
		a.Violations = append(a.Violations, Violation{Kind: Text(line.Get("kind")), Program: Text(line.Get("program")), Action: Text(line.Get("action")),
			Target: Text(line.Get("target")), Rule: Text(line.Get("rule")), AllowWith: Text(line.Get("allow_with")), Count: int(max(count.Value, 1))})
	}
	return a, nil
}
