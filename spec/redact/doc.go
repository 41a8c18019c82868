// Package redact hides credentials in the arguments of commands and in other texts that are kept
// for later readers, like records. It knows the names and the formats of credentials, not their
// values.
package redact

//go:generate go run ./gen

// Mark replaces a credential.
const Mark = "<redacted>"
