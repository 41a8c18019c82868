package spec

import (
	"strconv"
	"strings"
)

// DecodeError says what is wrong with a document, and where.
type DecodeError struct {
	Name  string // the document, as given
	Pos   Pos    // zero where the whole document is meant
	Field string // the path of the field; "" where none is known
	Why   string // what is wrong, and what is wanted
	Meant string // the name that was probably meant; may be empty
	Help  string // what would help; may be empty
}

// Error is the error on one line.
func (e *DecodeError) Error() string {
	var b strings.Builder
	b.WriteString(e.On())
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if e.Field != "" {
		b.WriteString(e.Field)
		b.WriteString(": ")
	}
	b.WriteString(e.why())
	return b.String()
}

// On is the place: "spec.json:3:5".
func (e *DecodeError) On() string {
	if e.Pos.Line == 0 {
		return e.Name
	}
	return e.Name + ":" + strconv.Itoa(e.Pos.Line) + ":" + strconv.Itoa(e.Pos.Col)
}

func (e *DecodeError) why() string {
	if e.Meant == "" {
		return e.Why
	}
	return e.Why + " (did you mean " + e.Meant + "?)"
}

// Problem is the error as a refusal.
func (e *DecodeError) Problem() *Problem {
	return &Problem{Field: Field(e.Field), On: e.On(), Do: "read the spec", Why: e.why(), Help: e.Help}
}
