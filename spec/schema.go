package spec

import _ "embed"

//go:embed schema.json
var schema string

// Schema is the JSON Schema (2020-12) of the spec.
func Schema() string { return schema }
