// Package project finds a project's own spec, .sbx/spec.yaml beside the top of its
// repository, and keeps which of them the caller trusts.
//
// Whoever wrote the repository wrote that spec. So it is read without following a
// link, and narrows what a command has without it, unless the caller has said of
// these very bytes that they may do more.
package project
