// Package wrap combines a resolved spec with the facts of a host into a Plan:
// what will be done, as data, in the order it is done.
//
//	plan, err := wrap.Build(resolved, &host, wrap.Request{Argv: argv, Program: program})
//
// Build is pure. All that depends on machine or workspace enters through Host,
// which package launch makes and tests make up; nothing here opens, stats or
// asks the time. Equal values give equal Plans, and the golden Plans in
// testdata/plans show them whole.
//
// What always holds of a Plan:
//
//   - Every field that the spec sets has one line in Enforcement. What cannot
//     be enforced is an error, unless the spec lets it be less; then the line
//     says so, and why.
//   - Mounts are in order: a clone of what will be covered is taken before it
//     is covered, a directory is put in place before what lies in it, and what is
//     hidden comes last, over everything.
//   - Paths in Mounts are absolute with links resolved; they are opened without
//     following a link, so that one swapped since is noticed and not followed.
//
// Host and BrokerAsk are API: docs/reference/go-api.md lists the names. The rest is for the
// rooms above, and changes with them.
package wrap
