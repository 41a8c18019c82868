// Package landlock holds the Landlock side of a sandbox: the rights and their
// names, the table of what each kernel's Landlock knows, a Ruleset as plain
// data, and the bytes that the kernel wants for it.
//
//	s := landlock.Probe()
//	r, lost := want.Downgrade(s.ABI)
//	attr := r.Attr() // for landlock_create_ruleset, with landlock.AttrSize(s.ABI)
//	for _, rule := range r.Rules { rule.Attr(fd) }
//	for _, port := range r.Ports { port.Attr() }
//
// Downgrade is the only place that knows of differences between kernels. It
// takes from a Ruleset what a kernel cannot do and returns it as a list, so
// that who asked for it can refuse or report; nothing is lost silently.
//
// No function here restricts anything. landlock_restrict_self(2) is about the
// calling thread and all that it starts later: a library for programs that
// shut themselves in has to apply it to every thread of the process, as
// go-landlock does, while sbx restricts one cloned child that is about to
// start a command, between two other steps of its own, and must itself stay
// as free as it was. So the launcher makes the system calls, in its child,
// with the numbers and layouts that are given here. Probe asks the kernel a
// question and changes nothing.
//
// What Landlock cannot do at any ABI, whatever a Ruleset says: it does not
// stop chdir, stat, chmod, chown, utime, xattrs, flock and, on what was opened
// before, anything; it cannot take away beneath what it grants; and its TCP
// rights cover plain TCP, not Multipath TCP. See landlock(7).
//
// It is no API: see docs/reference/go-api.md.
package landlock
