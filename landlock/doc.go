// Package landlock has the Landlock side of a sandbox: the rights and their names, the table of
// what each kernel's Landlock supports, a Ruleset as plain data, and the bytes that the kernel
// expects for it.
//
//	s := landlock.Probe()
//	r, lost := want.Downgrade(s.ABI)
//	attr := r.Attr() // for landlock_create_ruleset, with landlock.AttrSize(s.ABI)
//	for _, rule := range r.Rules { rule.Attr(fd) }
//	for _, port := range r.Ports { port.Attr() }
//
// Downgrade is the only place that knows about differences between kernels. It removes from a
// Ruleset everything that a kernel does not support, and returns a list of that, so that the caller
// can refuse or report it; nothing is lost silently.
//
// No function here restricts anything. landlock_restrict_self(2) restricts the calling thread and
// everything that it starts later. A library for programs that restrict themselves has to apply it
// to every thread of the process, as go-landlock does. sbx restricts only a cloned child that is
// about to start a command, between two other steps, and must stay unrestricted itself. So the
// launcher makes the system calls, in its child, with the numbers and layouts given here. Probe
// asks the kernel a question and changes nothing.
//
// What Landlock cannot do at any ABI, whatever a Ruleset says: it does not deny chdir, stat, chmod,
// chown, utime, xattrs, flock or, on descriptors opened before, anything; it cannot deny access
// under a path that it allows; and its TCP rights cover plain TCP, not Multipath TCP. See
// landlock(7).
//
// It is not an API: see docs/reference/go-api.md.
package landlock
