package workshop

import (
	"sbx/internal/doc"
	"sbx/internal/doc/decode"
	"sbx/spec"
)

// workshopKeys are the keys of a workshop's file that concern sbx.
var workshopKeys = []string{"sandbox"}

// DecodeWorkshop reads a workshop's file, workshop.yaml or
// golem-forge.config.yaml, as the spec that says the same: of its keys only
// sandbox counts. A workshop without a sandbox has no files but @system. The
// caller sets Source.Dir to the directory of the file: root counts from there, and
// Resolve refuses one that is not there or leaves it. The error is a
// *DecodeError.
func DecodeWorkshop(name string, text []byte) (*spec.SandboxSpec, []spec.Warning, error) {
	if err := doc.Check(name, text); err != nil {
		return nil, nil, err
	}
	root, warns, err := ownKeys(name, text, 0, len(text), workshopKeys)
	if err != nil {
		return nil, nil, err
	}
	if n := root.Get("sandbox"); n != nil {
		d := decode.Decoder{Name: name, Path: "sandbox"}
		noPlace(&d, n, "restrict", "move it to the sandbox section of a worker's file")
		spec.ReadWorkshop(&d, n)
		if d.Err != nil {
			return nil, nil, d.Err
		}
	} else {
		root = &doc.Node{Kind: doc.Object, Pos: root.Pos, Members: []doc.Member{systemOnly(root.Pos)}}
	}
	s, err := spec.DecodeNode(name, root)
	if err != nil {
		return nil, nil, err
	}
	s.Source.Kind = spec.WorkshopFile
	return s, warns, nil
}

// systemOnly is filesystem.read of @system alone.
func systemOnly(at doc.Pos) doc.Member {
	system := &doc.Node{Kind: doc.List, Pos: at, Items: []*doc.Node{{Kind: doc.String, Pos: at, Text: spec.System}}}
	files := &doc.Node{Kind: doc.Object, Pos: at, Members: []doc.Member{{Key: "read", KeyPos: at, Value: system}}}
	return doc.Member{Key: "filesystem", KeyPos: at, Value: files}
}

// noPlace refuses a field that means something, but not in this file.
func noPlace(d *decode.Decoder, n *doc.Node, field, help string) {
	for i := range n.Members {
		if m := &n.Members[i]; m.Key == field && d.Err == nil {
			d.Path = doc.Join(d.Path, field)
			d.FailMeant(m.KeyPos, field+" has no place in this file", "", help)
		}
	}
}
