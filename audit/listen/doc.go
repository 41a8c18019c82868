// Package listen answers the system calls that a sandbox's seccomp filter sends to the supervisor
// (seccomp_unotify(2)): it counts program starts against the budget, denies the creation of
// protected paths, and connects sockets on behalf of the caller.
//
// Counting: if an exec is certain to fail, the listener answers with the error that the kernel
// would give and does not charge the exec. It charges every other exec, including uncertain ones,
// and then lets the kernel continue the call. A program that changes a path during the check can
// thus be charged too much, never too little.
//
// Sockets: the listener never lets the kernel continue a connect. It copies the socket and the
// address, opens and checks the file that the address leads to, and connects the copy to that file.
// See docs/reference/network.md.
//
// The callers are hostile and may change memory and files at any moment. So the listener reads
// memory once, into a buffer of its own; resolves paths under the sandbox's root with openat2(2)
// into O_PATH descriptors; opens regular files only, and never for writing; and reads no more than
// a page of anything. Only the helpers, threads that connect and close sockets, wait for something
// that the sandbox controls.
package listen
