// Package sys asks the kernel what package os would: that one's start costs every
// sandbox fifty microseconds.
package sys
