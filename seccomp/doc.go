// Package seccomp holds sbx's system call filters: as data, as the programs
// that the kernel runs, and as an interpreter that tells what a program says
// of a call without asking a kernel.
//
// A Filter is a list of rules and a default. Of all rules that match a call
// the strictest holds, whatever their order, just as it would if each rule
// were a filter of its own in the kernel's chain; where none matches, the
// default does. So a refusal that is added to a filter can be undone by no
// other rule in it, and WithSideDoors is no more than an append.
//
//	f := seccomp.WithSideDoors(profile, seccomp.Options{Unix: true})
//	prog, err := seccomp.Program(f, seccomp.Native)
//
// Default is sbx's own filter. Its programs are embedded, one for each of
// Variants, and Embedded hands one out without compiling anything; a test
// holds them to what Program makes of Default.
//
// Invariants, each with its test:
//
//   - A call through another architecture's entry ends the process. Numbers
//     without a name in this package's tables (x32 among them) answer ENOSYS,
//     as an older kernel would, whatever the rules say, unless the filter's
//     default is stricter still.
//   - Where the kernel reads 32 bits of an argument, so does the rule:
//     Arg.Wide is false, and the high word changes nothing.
//   - A profile read by Profile can narrow the side doors, never open one.
//
// The package never loads a filter: the process that would be filtered is a
// child that the launcher makes. It hands out the unix.SockFprog for it, and
// Probe tells what the running kernel can do without changing anything.
//
// It is no API: see docs/reference/go-api.md.
package seccomp
