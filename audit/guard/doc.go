// Package guard protects the workspace while a command runs from what the kernel does not
// prevent: another process on the host replaces a protected file, so that its mount inside
// the sandbox falls off, or a protected name is created that did not exist at launch.
//
// A run uses it as follows:
//
//	held, err := guard.Hold(plan.Watch)
//	… the command starts …
//	sweep := &guard.Sweep{Watch: plan.Watch, Held: held, Known: known, Match: match, Run: sink.Run}
//	watch := guard.NewWatch(plan.Watch, sweep)
//	… once the command has run for a while, watch.Begin …
//	… when watch.FD is readable, watch.Drain, and sweep.At for each name that appeared …
//	… while watch.Fallen: watch.Renewing, the mounts are made again, watch.Renewed …
//	record.Protected, record.Swept = watch.Finish(now), spec.Some(sweep.End())
//
// Watch and Sweep start from descriptors that were opened at launch, follow no symbolic link
// and enter no other mount. Every walk is bounded in names, directories and time, and
// reports where it stopped.
//
// Nothing here denies a call. A sweep finds a name after it was created, which is why the
// record's line on new protected names is "guarded" at best.
package guard
