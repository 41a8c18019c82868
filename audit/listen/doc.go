// Package listen answers the calls that a sandbox's filter hands to the
// supervisor: it counts the programs that are started, against the budget, keeps
// protected names from coming into being, and connects sockets.
//
// The rule of counting: what is bound to fail is answered by the listener with
// the error that the kernel would give, and is not charged. Everything else is
// charged and then continued, so that a program which changes a path while it
// is looked at can be charged too much, never too little. Where the listener
// cannot be certain it charges.
//
// The rule of sockets: a connect never goes on. The socket and its address are
// copied, what the address leads to is opened and judged, and that is what the
// copy is connected to. See docs/reference/network.md.
//
// What it looks at may change at any moment and belongs to somebody who may
// want to hurt: memory is read in one piece into a buffer of the listener's
// own, paths are resolved beneath the sandbox's root by openat2(2) into
// descriptors that only name a file (O_PATH), files are opened only if regular
// and never for writing, nothing is read that is longer than a page, and
// nothing here waits for what the sandbox controls, but for the helpers that
// connect sockets, each of which is a thread of its own.
package listen
