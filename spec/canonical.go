package spec

// AppendCanonical appends the document as canonical JSON (RFC 8785).
func (s *SandboxSpec) AppendCanonical(dst []byte) []byte { return dst }

// AppendCanonical appends n as canonical JSON (RFC 8785).
func (n *Node) AppendCanonical(dst []byte) []byte { return dst }

// AppendJSON appends n as plain JSON in the document's order; a value whose
// path redact names is replaced by "<redacted>". A nil redact hides nothing.
func (n *Node) AppendJSON(dst []byte, redact func(path string) bool) []byte { return dst }

// Node is the document: as it was read or, for a spec made in Go, as it would
// be written.
func (s *SandboxSpec) Node() *Node { return s.Source.Root }
