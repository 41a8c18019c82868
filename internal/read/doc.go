// Package read reads untrusted files, directories and symlinks, which a sandboxed command may
// have planted, and files of /proc. Each function has a maximum size, never blocks (it opens
// no FIFO) and tells a file that is too large from one that it read whole.
// Package os is not used: its initialisation costs every sandbox fifty microseconds.
package read
