// Package sys replaces the few functions of package os that sbx needs, since the initialisation
// of os costs every sandbox fifty microseconds. It also has the kernel's timers and wake-up
// counters, whose descriptors can be polled.
package sys
