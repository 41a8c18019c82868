// Package redact hides credentials in the arguments of commands and in other
// texts that are kept for later readers: records, audits. It knows the names and
// the shapes of credentials, not their values.
package redact

//go:generate go run ./gen

// Mark stands where a credential stood.
const Mark = "<redacted>"
