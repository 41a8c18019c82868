// Package wrap combines a resolved spec with the facts of a host into a Plan, which lists as data
// what a launch will do, in order.
//
//	plan, err := wrap.Build(resolved, &host, wrap.Request{Argv: argv, Program: program})
//
// Build is pure. Everything that depends on the machine or the workspace comes in Host, which
// host.Probe makes and tests make up. Nothing here opens or stats a file or asks for the time.
// Equal values give equal Plans, and the golden Plans in testdata/plans show them whole.
//
// Every Plan has these properties:
//
//   - Every field that the spec sets has one line in Enforcement. A field that cannot
//     be enforced is an error, unless the spec accepts less; then the line says so, and
//     why.
//   - Mounts are in order: the clone of a path is taken before anything covers that
//     path, a directory is put in place before its contents, and paths to hide are
//     hidden last, over everything else.
//   - Paths in Mounts are absolute, without links. A launch opens them without
//     following links, so that it notices a link that was put there since.
//
// Host and BrokerAsk are API: docs/reference/go-api.md lists the names. Everything else is for the
// rooms above, and changes with them.
package wrap
