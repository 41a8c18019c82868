// Package oci enforces specs on containers: an engine calls it instead of an OCI runtime. It
// edits the config.json of a new container and passes every verb to the runtime proper (runc
// or crun).
//
// A Line is the engine's command line, a Container the bundle that the engine has prepared,
// Documents returns the specs that apply to it, and an Edit is a change to its config.json.
// The verbs create, run, start, exec, delete and restore have code here; all others are only
// handed on.
package oci
