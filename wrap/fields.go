package wrap

import "sbx/spec"

// These are the names of lines in a record for which a spec has no field.
const (
	FieldNoNewPrivs spec.Field = "no_new_privs"
	FieldProtected  spec.Field = "protected_names"     // protected names that exist at launch
	FieldUnmade     spec.Field = "new_protected_names" // protected names that do not exist yet
	FieldSecrets    spec.Field = "secrets"
	FieldPrivate    spec.Field = "private_folders"
	FieldHome       spec.Field = "home"
	FieldLayer      spec.Field = "layer" // a writable layer over readable paths, in a run that learns writes
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
