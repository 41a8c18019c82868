package spec

// Decode reads one document.
func Decode(name string, b []byte) (*SandboxSpec, error) { return &SandboxSpec{}, nil }
