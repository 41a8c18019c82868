package launch

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// Calls are the system calls of the sandbox that wait for an answer at seccomp's listener.
type Calls struct {
	FD int // readable when one waits
	// Take waits for the next call, at FD or a copy of it, and receives it; taken is false if
	// the calling thread is gone by then, over is true if no more calls will come.
	Take   func(fd int) (taken, over bool)
	Answer func() // answers the call that Take received
	// Apart is set if the sandbox can delay an answer indefinitely, by its memory
	// (userfaultfd(2)) or a file system of its own (fuse(4)). Then the supervising thread
	// gives no answers: it enforces limits, and the sandbox ends with it.
	Apart bool
}

// aloneAfter is how many calls the supervising thread answers. Later calls are answered by a
// thread of their own, which waits in the kernel for the next call and for nothing else. A
// poll(2) of all that a supervisor waits for takes a fifth of an answer's time, and while
// the supervisor is awake next to the command that it has just answered, the scheduler may
// move one of them to another processor. Starting a thread takes as long as it saves in this
// many calls.
const aloneAfter = 32

// answers are given by the supervising thread at first, then by a thread of their own.
type answers struct {
	*Calls
	turn  sync.Mutex // held while a hook runs
	given int
	ended bool // no process of the sandbox is left
	// waiters waits for calls in the supervising thread; empty without calls.
	waiters         []Waiter
	restorePriority func() // undoes raisePriority in the supervising thread
}

// newAnswers prepares the calling thread to answer calls, which may be nil.
func newAnswers(c *Calls) *answers {
	a := &answers{Calls: c, restorePriority: func() {}}
	if c != nil {
		a.restorePriority = raisePriority()
		a.waiters = []Waiter{{FD: c.FD, Event: a.answer}}
		if c.Apart {
			a.startThread()
		}
	}
	return a
}

// tryTurn calls f unless another thread holds the turn, which may be answering for a long
// time.
func (a *answers) tryTurn(f func()) bool {
	if !a.turn.TryLock() {
		return false
	}
	defer a.turn.Unlock()
	f()
	return true
}

// withTurn calls f while no answer begins. An answer that is being given may go on: a
// signal that f passes on then still precedes whatever a program does after its answer.
func (a *answers) withTurn(f func()) {
	if a.turn.TryLock() {
		defer a.turn.Unlock()
	}
	f()
}

// end is called when no process of the sandbox is left: nothing more is answered.
func (a *answers) end() {
	a.turn.Lock()
	defer a.turn.Unlock()
	a.ended = true
}

// answer answers one call, and starts the thread for the following ones after enough calls.
func (a *answers) answer() {
	if taken, _ := a.Take(a.FD); !taken {
		return
	}
	a.Answer()
	if a.given++; a.given == aloneAfter {
		a.startThread()
	}
}

// startThread starts the thread. The thread waits at a copy of the descriptor: on kernels
// before 6.11 it waits there forever once the sandbox is gone, and a closed descriptor's
// number could soon belong to another file. The supervising thread keeps its priority,
// since an answer waits for its turns.
func (a *answers) startThread() {
	fd, err := unix.FcntlInt(uintptr(a.FD), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return // the supervising thread goes on answering
	}
	a.waiters[0].FD = -1
	go a.serve(fd)
	runtime.Gosched() // lets the new goroutine run before this thread waits
}

func (a *answers) serve(fd int) {
	runtime.LockOSThread() // never unlocked, so that the thread ends together with its priority
	defer unix.Close(fd)
	raisePriority()
	for {
		taken, over := a.Take(fd)
		if over {
			return
		}
		if taken && !a.answerInTurn() {
			return
		}
	}
}

func (a *answers) answerInTurn() (more bool) {
	a.turn.Lock()
	defer a.turn.Unlock()
	if !a.ended {
		a.Answer()
	}
	return !a.ended
}
