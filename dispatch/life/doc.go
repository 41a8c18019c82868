// Package life runs dispatches: it starts a command under sbx exec, supervises it until it
// ends, stores the record in the ledger, and ends rows whose processes are gone.
//
// Three processes take part in a dispatch:
//
//   - The spawning process checks the request, starts the keeper, adds a row with the
//     keeper's PID, and then lets the keeper continue.
//   - The keeper starts sbx exec and outlives it. It updates the row while the command
//     runs, and ends it with the record. If Intercore starts the driver, the driver is
//     the keeper.
//   - sbx exec dies together with the keeper, however that ends, and its sandbox with it.
//
// In addition to the row, a dispatch has a directory in the caller's state directory. It
// holds the job of the keeper, the keeper's process (PID, start time, boot) and sbx exec's
// record. Each file is written before the event that it describes can happen, so that Poll
// can determine the state at any moment: the keeper runs, the record is finished, or the
// run is lost.
//
// The output and the files next to it go to a directory that the command may write. The
// keeper opens the directory before the command starts, and replaces files in it without
// following links.
package life
