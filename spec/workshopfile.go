package spec

import "sbx/internal/doc"

// workshopKeys are the keys of a workshop's file that concern sbx.
var workshopKeys = []string{"sandbox"}

// DecodeWorkshop reads a workshop's file, workshop.yaml or
// golem-forge.config.yaml, as the spec that says the same: of its keys only
// sandbox counts. A workshop without a sandbox has no files but @system. The
// caller sets Source.Dir to the directory of the file: root counts from there, and
// Resolve refuses one that is not there or leaves it. The error is a
// *DecodeError.
func DecodeWorkshop(name string, text []byte) (*SandboxSpec, []Warning, error) {
	if err := doc.Check(name, text); err != nil {
		return nil, nil, err
	}
	root, warns, err := ownKeys(name, text, 0, len(text), workshopKeys)
	if err != nil {
		return nil, nil, err
	}
	if n := root.Get("sandbox"); n != nil {
		d := decoder{name: name, path: "sandbox", other: true}
		d.noPlace(n, "restrict", "move it to the sandbox section of a worker's file")
		part(&d, n, workshopFields)
		if d.err != nil {
			return nil, nil, d.err
		}
	} else {
		root = &Node{Kind: Object, Pos: root.Pos, Members: []Member{systemOnly(root.Pos)}}
	}
	s, err := DecodeNode(name, root)
	if err != nil {
		return nil, nil, err
	}
	s.Source.Kind = WorkshopFile
	return s, warns, nil
}

// systemOnly is filesystem.read of @system alone.
func systemOnly(at Pos) Member {
	system := &Node{Kind: List, Pos: at, Items: []*Node{{Kind: String, Pos: at, Text: System}}}
	files := &Node{Kind: Object, Pos: at, Members: []Member{{Key: "read", KeyPos: at, Value: system}}}
	return Member{Key: "filesystem", KeyPos: at, Value: files}
}

// noPlace refuses a field that means something, but not in this file.
func (d *decoder) noPlace(n *Node, field, help string) {
	for i := range n.Members {
		if m := &n.Members[i]; m.Key == field && d.err == nil {
			d.path = doc.Join(d.path, field)
			d.failMeant(m.KeyPos, field+" has no place in this file", "", help)
		}
	}
}
