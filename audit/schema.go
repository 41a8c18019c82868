package audit

import _ "embed"

//go:generate node ../scripts/record-types.mjs ../sdk/typescript/record.d.ts

//go:embed record.schema.json
var schema string

// Schema is the JSON Schema (2020-12) of the record.
func Schema() string { return schema }
