// Package front is what sbx-oci does before the Go runtime has started, which takes as long
// as all of it: it becomes the runtime proper at once where nothing else is to be done, and
// parts the process that the engine waits for from the one that stays as the supervisor.
// A program has it by the linker flag -E sbx_oci_entry.
package front
