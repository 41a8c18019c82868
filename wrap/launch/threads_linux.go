package launch

import "runtime"

// Threads has the Go runtime start every thread that it may come to want, before the
// command is there, which may leave no process to be had: a thread that it cannot start
// ends the program. own is how many goroutines more have a thread of their own.
//
// The runtime starts a thread where a goroutine could run, a place (GOMAXPROCS) is free
// and no thread idles; what is idle is used again, and none ends. So there need never be
// more than those that hold a place, those that wait in the kernel without one, which is
// at most one for each goroutine of ours, and those on their way from one to the other.
// Nothing else of ours waits: there are no timers of the runtime's and no netpoller, and
// whatever lasts as long as the sandbox likes is done by threads of another kind
// (sbx/audit/listen).
func Threads(own int) <-chan struct{} {
	const (
		places  = 2 // goroutines that run, or look for one that could
		asleep  = 2 // who answers calls, and who says lines
		always  = 3 // the supervising thread, and two of the runtime's
		between = 1 // it has given up its place, and has not yet gone to sleep
	)
	most := places + 2*own
	if own > 0 || runtime.GOMAXPROCS(0) > most {
		// A goroutine that waits in the kernel keeps its place until the runtime's
		// watchdog takes it away, which here looks every few milliseconds: there are
		// places enough for all that wait.
		runtime.GOMAXPROCS(most)
	}
	most += asleep + own + between
	gate, done := make(chan struct{}), make(chan struct{})
	go startIdle(most+always, gate, done)
	return done
}

// idle holds a thread until there are as many as there are to be.
func startIdle(most int, gate, done chan struct{}) {
	if n, _ := runtime.ThreadCreateProfile(nil); n >= most {
		close(gate)
		close(done)
		return
	}
	runtime.LockOSThread() // so that the next one needs another
	defer runtime.UnlockOSThread()
	go startIdle(most, gate, done)
	<-gate
}
