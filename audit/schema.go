package audit

import _ "embed"

//go:embed record.schema.json
var schema string

// Schema is the JSON Schema (2020-12) of the record.
func Schema() string { return schema }
