package oci

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// thread calls the functions that are sent to it on a thread of its own, which ends with the channel,
// along with the namespaces that they unshared. It is never the process's first thread, which cannot end
// before the process.
type thread chan func()

func newThread() thread {
	t := make(thread, 1) // who sends must not wait for the thread to start
	go t.serve()
	return t
}

func (t thread) serve() {
	runtime.LockOSThread() // never unlocked, so that the thread ends
	if unix.Gettid() == unix.Getpid() {
		go t.serve()
		select {} // so that it is on another thread
	}
	for f := range t {
		f()
	}
}

// begin has the thread call f, its last function. ended is closed when f has returned.
func (t thread) begin(f func()) (ended <-chan struct{}) {
	done := make(chan struct{})
	t <- func() { f(); close(done) }
	close(t)
	return done
}

// apart calls f on a new thread.
func apart(f func()) { <-newThread().begin(f) }
