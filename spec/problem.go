package spec

import (
	"errors"
	"slices"
	"strings"
)

// Field is the path of a field in a spec, such as "limits.memory". Fields lists all of them.
type Field string

// In reports whether f is one of fields or lies in one of them.
func (f Field) In(fields ...Field) bool {
	return slices.ContainsFunc(fields, func(of Field) bool { return f == of || strings.HasPrefix(string(f), string(of)+".") })
}

// Problem is one error: what was attempted, on what, why it failed, and what would help. All
// errors shown to people, written to the record or returned to programs have this form.
type Problem struct {
	Field Field  // the field concerned; "" for none
	On    string // where: "spec.json:9:14", a path, a program
	Do    string // what was attempted: "cap memory at 2GiB"
	Why   string // the one cause
	Help  string // what would help; may be empty
}

// Error returns the problem on one line.
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Head())
	if p.Why != "" {
		b.WriteString(": ")
		b.WriteString(p.Why)
	}
	return b.String()
}

// Head returns the first of the lines shown to a person: field, place, attempt.
func (p *Problem) Head() string {
	var b strings.Builder
	on := p.On
	if Shown(on) != on {
		on = quote(on)
	}
	switch {
	case p.Field != "" && p.On != "":
		b.WriteString(string(p.Field) + " (" + on + "): ")
	case p.Field != "":
		b.WriteString(string(p.Field) + ": ")
	case p.On != "":
		b.WriteString(on + ": ")
	}
	b.WriteString("cannot " + p.Do)
	return b.String()
}

// Told returns the lines of a problem that are shown to a person: what was attempted, why it
// failed, what would help.
func Told(p *Problem) []string {
	lines := []string{Shown(p.Head())}
	if p.Why != "" {
		lines = append(lines, "why: "+p.Why)
	}
	if p.Help != "" {
		lines = append(lines, "hint: "+p.Help)
	}
	return lines
}

// Problems are all errors in one document.
type Problems []*Problem

// Error lists the problems, a line each.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.As and errors.Is every single problem.
func (ps Problems) Unwrap() []error {
	all := make([]error, len(ps))
	for i, p := range ps {
		all[i] = p
	}
	return all
}

// one returns a single problem as a *Problem.
func (ps Problems) one() error {
	if len(ps) == 1 {
		return ps[0]
	}
	return ps
}

// AsProblems converts any error to Problems.
func AsProblems(err error) Problems {
	var all Problems
	var one *Problem
	var bad *DecodeError
	switch {
	case errors.As(err, &all):
		return all
	case errors.As(err, &one):
		return Problems{one}
	case errors.As(err, &bad):
		return Problems{{Field: Field(bad.Field), On: bad.On(), Do: "read the spec", Why: bad.Reason(), Help: bad.Help}}
	}
	return Problems{{Do: "go on", Why: err.Error()}}
}
