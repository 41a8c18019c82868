// Package life runs what the ledger of dispatches is about: it starts a command
// under sbx exec, looks after it until it ends, writes down what held, and finds
// the truth for a row whose processes are gone.
//
// Three processes take part in a dispatch:
//
//   - the one that spawns: it checks what is asked, starts the second, adds the
//     row, which names the second, and only then lets the second go on;
//   - the keeper: it starts sbx exec and outlives it. It writes down what is
//     used while the command runs, and ends the row with the record. Where
//     Intercore starts the driver, the driver is the keeper;
//   - sbx exec, which dies with the keeper, whatever kills that, and its sandbox
//     with it.
//
// Beside the row a dispatch has a directory in the caller's state directory: the job
// (what the keeper is to do), the keeper's process (pid, start time, boot), and
// sbx exec's record. Each is written before what it stands for can happen, so
// that Poll can tell at any moment what is true: a keeper that runs, a record
// that is finished, or a run that is lost.
//
// What is written for others, as the output and what stands beside it, goes to
// a directory that is opened before the command runs, under a name that is replaced
// and never followed: the command may write that directory.
package life
