package launch

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// Calls are those that wait for an answer, at seccomp's listener.
type Calls struct {
	FD int // readable when one waits
	// Take waits for the next one, at FD or a copy of it, and takes it, unless its
	// thread is gone by then; over: none will come any more.
	Take   func(fd int) (taken, over bool)
	Answer func() // answers the one that was taken
	// Apart: the sandbox can have an answer wait for as long as it likes, for its memory
	// (userfaultfd(2)) or a file system of its own (fuse(4)). The supervising thread gives
	// none then: it has limits to hold, and the sandbox ends with it.
	Apart bool
}

// aloneAfter is how many calls the supervising thread answers. What comes then has a
// thread to itself, which waits in the kernel for the next call and for nothing else:
// a poll(2) of all that a supervisor looks after takes a fifth of an answer's time,
// and as long as the supervisor is awake beside the command that it has answered, the
// scheduler may part them. A thread takes as long to start as it saves in so many.
const aloneAfter = 32

// answers are given by the supervising thread at first.
type answers struct {
	*Calls
	turn  sync.Mutex // held by whoever does what a hook does
	given int
	ended bool // nobody is left whose call could be answered
	// waiters is who waits for calls in the supervising thread: one, or none where
	// there are no calls.
	waiters         []Waiter
	restorePriority func() // takes the lead from the supervising thread
}

// answersTo prepares the calling thread to answer calls, which may be nil.
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

// inTurn calls f, unless another has the turn, who may be answering for a long time.
func (a *answers) tryTurn(f func()) bool {
	if !a.turn.TryLock() {
		return false
	}
	defer a.turn.Unlock()
	f()
	return true
}

// still calls f while nothing is answered, but for an answer that is being given: what
// f passes on comes before whatever a program does that has an answer to wait for.
func (a *answers) withTurn(f func()) {
	if a.turn.TryLock() {
		defer a.turn.Unlock()
	}
	f()
}

// end is for when nothing of the sandbox is left: nothing more is answered.
func (a *answers) end() {
	a.turn.Lock()
	defer a.turn.Unlock()
	a.ended = true
}

// answer answers one call, and hands over what follows when there were enough.
func (a *answers) answer() {
	if taken, _ := a.Take(a.FD); !taken {
		return
	}
	a.Answer()
	if a.given++; a.given == aloneAfter {
		a.startThread()
	}
}

// handOver starts the thread. It has a copy of the descriptor to wait at: on kernels
// before 6.11 it waits there for ever when nothing of the sandbox is left, and the
// number of one that is closed would be somebody else's soon. The supervising thread
// keeps its lead: an answer waits for its turns.
func (a *answers) startThread() {
	fd, err := unix.FcntlInt(uintptr(a.FD), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return // answered here, then
	}
	a.waiters[0].FD = -1
	go a.serve(fd)
	runtime.Gosched() // to whoever runs it: this thread is about to wait
}

func (a *answers) serve(fd int) {
	runtime.LockOSThread() // and never unlocked: the thread ends with its lead
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
