package wire

import (
	"errors"

	"sbx/internal/doc"
)

// Message is a pointer to one of the message types of this package.
type Message interface {
	kind() string
	walk(*walker)
}

// blank returns an empty message of a kind; nil if there is no such kind.
func blank(kind string) Message {
	for _, m := range []Message{&Start{}, &Sockets{}, &End{}, &Ready{}, &Refused{}, &Call{}, &Ask{}, &Failed{}, &Summary{}} {
		if m.kind() == kind {
			return m
		}
	}
	return nil
}

// Append appends the message's line to b.
func Append(b []byte, m Message) []byte {
	w := walker{to: &doc.Writer{B: b}}
	w.to.Open('{')
	w.object(m.kind(), m.walk)
	w.to.Close('}')
	return append(w.to.B, '\n')
}

// Read reads a line. Anything unknown is an error: both ends are of the same version.
func Read(line []byte) (Message, error) {
	root, err := doc.ParseLaxJSON("message", line, 8)
	if err != nil {
		return nil, err
	}
	if root.Kind != doc.Object || len(root.Members) != 1 {
		return nil, errors.New("message: want an object with one member")
	}
	m := blank(root.Members[0].Key)
	if m == nil {
		return nil, errors.New("message: unknown kind " + doc.Quote(doc.Cut(root.Members[0].Key)))
	}
	w := walker{from: root}
	if w.object(m.kind(), m.walk); w.err != nil {
		return nil, w.err
	}
	return m, nil
}
