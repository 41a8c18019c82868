// Package front runs in sbx-oci before the Go runtime starts, since that start takes as long as
// everything here. It executes the runtime proper at once if sbx-oci has nothing else to do, and
// otherwise forks: the parent is the process that the engine waits for, the child may stay as
// the container's supervisor. The linker flag -E sbx_oci_entry makes it the entry point.
package front
