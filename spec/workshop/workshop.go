package workshop

import (
	"sbx/internal/doc"
	"sbx/internal/doc/decode"
	"sbx/spec"
)

// workshopKeys are the keys of a workshop's file that concern sbx.
var workshopKeys = []string{"sandbox"}

// DecodeWorkshop reads a workshop's file, workshop.yaml or golem-forge.config.yaml, as a spec: only its
// key sandbox counts. A workshop without a sandbox has no files except @system. The caller sets Source.Dir
// to the directory of the file, to which root is relative; Resolve rejects a root that does not exist or
// lies outside. The error is a *spec.DecodeError.
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

// systemOnly returns the member filesystem with nothing but @system in its list read.
func systemOnly(at doc.Pos) doc.Member {
	system := &doc.Node{Kind: doc.List, Pos: at, Items: []*doc.Node{{Kind: doc.String, Pos: at, Text: spec.System}}}
	files := &doc.Node{Kind: doc.Object, Pos: at, Members: []doc.Member{{Key: "read", KeyPos: at, Value: system}}}
	return doc.Member{Key: "filesystem", KeyPos: at, Value: files}
}

// noPlace rejects a field that is valid in other files only.
func noPlace(d *decode.Decoder, n *doc.Node, field, help string) {
	for i := range n.Members {
		if m := &n.Members[i]; m.Key == field && d.Err == nil {
			d.Path = doc.Join(d.Path, field)
			d.FailMeant(m.KeyPos, field+" has no place in this file", "", help)
		}
	}
}
