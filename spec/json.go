package spec

// ParseJSON reads one JSON document.
func ParseJSON(name string, b []byte) (*Node, error) { return &Node{}, nil }
