// Package dirs opens, reads and removes files and directories through descriptors, for code
// that works in directories which a sandboxed command can change at the same time. Paths
// are relative to an open directory; no symbolic link is followed and no other mount
// entered.
//
// Package os is not used: its initialisation costs every sandbox fifty microseconds.
package dirs
