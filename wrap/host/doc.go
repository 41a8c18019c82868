// Package host looks at the machine and the workspace for a wrap.Host: the kernel's
// facts, the mounts, where secrets lie and what is protected, which program a name is. It
// changes nothing, runs nothing and waits for nothing.
//
// The workspace may have been written by an earlier command of a sandbox: searches in it
// are bounded in number, depth and size, and follow a link only to protect what it leads to.
//
// Of this package Probe alone is API: see docs/reference/go-api.md.
package host
