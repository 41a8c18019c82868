// Package project finds a project's own spec, .sbx/spec.yaml in the top directory of the project,
// and stores which of these specs the caller trusts.
//
// The repository's authors wrote that spec. So it is read without following a link, and can only
// narrow what the command would have without it, unless the caller has declared that this exact
// text may do more.
package project
