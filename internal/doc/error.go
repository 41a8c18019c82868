package doc

import (
	"strconv"
	"strings"
)

// Error says what is wrong with a document, and where.
type Error struct {
	Name  string // the document, as given
	Pos   Pos    // zero if the whole document is meant
	Field string // the path of the field; "" if unknown
	Why   string // what is wrong and what is expected
	Meant string // the name that was probably meant; may be empty
	Help  string // what would help; may be empty
}

// ErrorAt returns an Error about the byte at offset off of b.
func ErrorAt(name string, b []byte, off int, why string) *Error {
	return &Error{Name: name, Pos: PosAt(b, off), Why: why}
}

// Error returns the message on one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.On())
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if e.Field != "" {
		b.WriteString(e.Field)
		b.WriteString(": ")
	}
	b.WriteString(e.Reason())
	return b.String()
}

// On returns the place as "spec.json:3:5".
func (e *Error) On() string {
	if e.Pos.Line == 0 {
		return e.Name
	}
	return e.Name + ":" + strconv.Itoa(e.Pos.Line) + ":" + strconv.Itoa(e.Pos.Col)
}

// Reason returns Why together with Meant.
func (e *Error) Reason() string {
	if e.Meant == "" {
		return e.Why
	}
	return e.Why + " (did you mean " + e.Meant + "?)"
}

// refused is deferred by a reader: it recovers the Error that the reader panicked with and
// makes it the result.
func refused(n **Node, err *error) {
	switch bad := recover().(type) {
	case nil:
	case *Error:
		*n, *err = nil, bad
	default:
		panic(bad)
	}
}
