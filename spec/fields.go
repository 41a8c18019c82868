package spec

// FieldInfo describes one leaf field of the spec.
type FieldInfo struct {
	Field Field
	Type  string // as documents say it: "string", "list of strings", "size"
	Doc   string // one line
	Later bool   // set in a document, it is refused: its enforcement does not exist yet
}

// Fields lists every leaf field, in the order of the documentation.
func Fields() []FieldInfo { return nil }
