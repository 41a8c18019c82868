// Package view computes what a command may do at each path of its sandbox, and which spec
// field or default decided it. A Tree is built from layers, bottom to top: readable paths,
// writable paths, mounts, hidden paths, protected paths. The package is pure: its caller
// knows the spec and the host and passes in the layers.
package view
