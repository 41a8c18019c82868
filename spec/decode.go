package spec

import (
	"sbx/internal/doc"
	"sbx/internal/doc/decode"
)

type (
	decoder       = decode.Decoder
	member[T any] = decode.Field[T]
)

// Decode reads one document, as JSON or YAML by the extension of its name. Without the extension
// .json, .yaml or .yml, a document that begins with "{" is JSON. The error is a *DecodeError about
// the first fault.
func Decode(name string, b []byte) (*SandboxSpec, error) {
	root, err := doc.Parse(name, b)
	if err != nil {
		return nil, err
	}
	return DecodeNode(name, root)
}

// DecodeNode reads a document that has been parsed already. It sets name and root in the spec's
// Source; the caller sets Source.Dir.
func DecodeNode(name string, root *Node) (*SandboxSpec, error) {
	return decodeBy(NewDecoder(name), name, root)
}

// DecodeJoined is DecodeNode for a document that was joined from several: its lists may be longer
// than a single document may have them.
func DecodeJoined(name string, root *Node) (*SandboxSpec, error) {
	d := NewDecoder(name)
	d.Joined = true
	return decodeBy(d, name, root)
}

func decodeBy(d decoder, name string, root *Node) (*SandboxSpec, error) {
	s := &SandboxSpec{Source: Source{Name: name, Root: root}}
	if root.Kind != Object {
		d.Fail(root.Pos, "want an object with the fields of a spec, got "+root.Kind.String())
		return nil, d.Err
	}
	decode.Object(&d, root, specFields, s)
	AcrossFields(&d, root)
	if d.Err != nil {
		return nil, d.Err
	}
	return s, nil
}

// NewDecoder returns the decoder of a spec, or of a document that contains specs.
func NewDecoder(name string) decoder { return decoder{Name: name, Known: fieldNames} }

func fieldNames() []string {
	all := make([]string, len(fields))
	for i := range fields {
		all[i] = string(fields[i].Field)
	}
	return all
}

// ReadFields reads the fields of a spec that is a part of another document.
func ReadFields(d *decode.Decoder, n *Node, into *SandboxSpec) { decode.Object(d, n, specFields, into) }

// ReadWorkshop reads the field sandbox of another document.
func ReadWorkshop(d *decode.Decoder, n *Node) Workshop { return decode.Part(d, n, workshopFields) }
