package wrap

import "sbx/spec"

// The names of lines that every record has although no spec has such a field.
const (
	FieldNoNewPrivs spec.Field = "no_new_privs"
	FieldProtected  spec.Field = "protected_names"     // those that are there at launch
	FieldUnmade     spec.Field = "new_protected_names" // those that are not
	FieldSecrets    spec.Field = "secrets"
	FieldPrivate    spec.Field = "private_folders"
	FieldHome       spec.Field = "home"
	FieldLayer      spec.Field = "layer" // over what may be read, where writes are learned
	FieldSideDoors  spec.Field = "side_doors"
	FieldProcesses  spec.Field = "processes"
	FieldRecord     spec.Field = "record"
	FieldInput      spec.Field = "input"  // --input
	FieldOutput     spec.Field = "output" // --output
)

// FieldAgent is the field of an agent's own paths, which no document names.
const FieldAgent spec.Field = "agent"

const (
	fieldAllow spec.Field = "commands.allow"
	fieldDeny  spec.Field = "commands.deny"
)

const (
	fieldRead  spec.Field = "filesystem.read"
	fieldWrite spec.Field = "filesystem.write"
)
