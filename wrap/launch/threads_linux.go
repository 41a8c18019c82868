package launch

import "runtime"

// Threads makes the Go runtime start every thread that it may ever need before the command
// exists: the command may use up all processes, and the program ends if the runtime cannot
// start a thread. own is how many further goroutines have a thread of their own.
//
// The runtime starts a thread if a goroutine could run, a place (GOMAXPROCS) is free and no
// thread idles. It reuses idle threads and ends none. So it needs at most one thread for
// each place, one for each goroutine that waits in the kernel without a place, and those in
// transition between the two. Nothing else waits: the runtime has no timers and no
// netpoller here, and work that the sandbox can delay is done by other threads
// (sbx/audit/listen).
func Threads(own int) <-chan struct{} {
	const (
		places  = 2 // goroutines that run, or look for one to run
		asleep  = 2 // the goroutines that answer calls and that print
		always  = 3 // the supervising thread, and two of the runtime's
		between = 1 // a thread that has given up its place and does not sleep yet
	)
	most := places + 2*own
	if own > 0 || runtime.GOMAXPROCS(0) > most {
		// A goroutine that waits in the kernel keeps its place until the runtime's watchdog
		// takes it away, which checks only every few milliseconds here: so there are enough
		// places for all that wait.
		runtime.GOMAXPROCS(most)
	}
	most += asleep + own + between
	gate, done := make(chan struct{}), make(chan struct{})
	go startIdle(most+always, gate, done)
	return done
}

// startIdle holds a thread until enough threads exist.
func startIdle(most int, gate, done chan struct{}) {
	if n, _ := runtime.ThreadCreateProfile(nil); n >= most {
		close(gate)
		close(done)
		return
	}
	runtime.LockOSThread() // the next goroutine needs another thread
	defer runtime.UnlockOSThread()
	go startIdle(most, gate, done)
	<-gate
}
