// Package seccomp has sbx's system call filters: as data, as the programs that the kernel runs, and
// an interpreter that finds a program's verdict on a call without a kernel.
//
// A Filter is a list of rules and a default. Of all rules that match a call the strictest wins,
// whatever their order, as if each rule were a filter of its own in the kernel's chain; if none
// matches, the default applies. So no other rule can undo a denial that is added to a filter, and
// WithSideDoors only has to append rules.
//
//	f := seccomp.WithSideDoors(profile, seccomp.Options{Unix: true})
//	prog, err := seccomp.Program(f, seccomp.Native)
//
// Default is sbx's own filter. Its programs are embedded, one for each of Variants, and Embedded
// returns one without compiling anything; a test compares them with Program's result for Default.
//
// Invariants, each with its test:
//
//   - A call through another architecture's entry ends the process. Numbers without a
//     name in this package's tables (x32 among them) are answered with ENOSYS, as by an
//     older kernel, whatever the rules say, unless the filter's default is stricter.
//   - Where the kernel reads 32 bits of an argument, so does the rule: Arg.Wide is
//     false, and the high word changes nothing.
//   - A profile read by Profile can narrow the side doors, but never open one.
//
// The package never loads a filter, because the process to be filtered is a child that the launcher
// makes. It provides the unix.SockFprog for it. Probe finds out what the running kernel supports
// without changing anything.
//
// It is not an API: see docs/reference/go-api.md.
package seccomp
