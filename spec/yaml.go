package spec

// ParseYAML reads one YAML document.
func ParseYAML(name string, b []byte) (*Node, error) { return &Node{}, nil }
