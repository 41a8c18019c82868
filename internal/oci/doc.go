// Package oci narrows containers: it is what stands in the place of an OCI runtime, edits
// the config.json of a container that is made, and hands every verb to the runtime proper.
//
// A Line is what the engine asks, a Container what it has made ready, Documents are the
// specs that hold for it, Edits what becomes of config.json because of them. Create,
// Start, Exec and Delete are what is done about a verb; every other is handed on.
package oci
