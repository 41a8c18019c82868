package oci

import (
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit/listen"
	"sbx/internal/run"
	"sbx/seccomp"
	"sbx/spec"
	"sbx/wrap"
)

// supervisor is who answers the calls of a container that wait, from before its first

// process until nothing of it runs any more. It is the program that makes the container,

// which stays.

type supervisor struct {
	run     *run.Attended
	door    int // where sbx-init of each process that the runtime starts comes to
	alive   int // locked
	inside  *inside
	timeout time.Duration // 0 for none
	alone   bool          // nothing is to be in the container's network

	turn  sync.Mutex   // held by whoever changes what run knows
	root  int          // of the container, O_PATH; -1 as long as it has no process
	first atomic.Int32 // a pidfd of its first process; -1 likewise
	pid   atomic.Int32
	seen  chan struct{} // closed once there is a first process
	known sync.Once
	begun atomic.Bool // that process becomes the command
	late  atomic.Bool // limits.timeout has ended it
}

// open makes the door. What comes in there waits until serve.

// doorOf is a container's door, however long the path of its shelf.

// comeTo is a socket to the supervisor of the container that a shelf is of.

// serve answers until serving ends with the process.

func (s *supervisor) serve() {
	waits := s.run.Waits()
	pf := []unix.PollFd{{Fd: int32(s.door), Events: unix.POLLIN}}
	for _, w := range waits {
		pf = append(pf, unix.PollFd{Fd: int32(w.FD), Events: unix.POLLIN})
	}
	for {
		switch _, err := unix.Poll(pf, -1); {
		case err == unix.EINTR:
			continue
		case err != nil:
			return
		}
		if pf[0].Revents&unix.POLLIN != 0 {
			if fd, _, err := unix.Accept4(s.door, unix.SOCK_CLOEXEC); err == nil {
				go s.welcome(fd)
			}
		}
		for i, w := range waits {
			switch p := &pf[i+1]; {
			case p.Revents&unix.POLLIN != 0:
				s.turn.Lock()
				w.Event()
				s.turn.Unlock()
			case p.Revents != 0:
				p.Fd = -1
			}
		}
	}
}

// welcome takes the listener of a process that is about to become a command, and answers

// at it.

func (s *supervisor) welcome(conn int) {
	runtime.LockOSThread() // which the answers have for themselves
	listener, pid, err := received(conn)
	if err != nil {
		unix.Close(conn)
		return
	}
	s.known.Do(func() { err = s.meet(pid) })
	if err == nil && s.alone && !s.begun.Load() { // an engine may have given it one since it was made
		err = emptyNetwork(pid)
	}
	if err != nil || s.root < 0 {
		unix.Close(listener)
		unix.Close(conn) // and sbx-init starts nothing
		return
	}
	isFirst := int(s.pid.Load()) == pid && s.begun.CompareAndSwap(false, true)
	s.turn.Lock()
	l := s.run.Listener(listener, s.root)
	s.turn.Unlock()
	seccomp.Sync(listener)
	_, err = unix.Write(conn, []byte{0})
	unix.Close(conn)
	if err != nil {
		unix.Close(listener)
		return
	}
	if isFirst {
		s.begin(listener)
	}
	s.answer(l, listener)
}

// meet is for the first process that comes: the container's, or one that was added before
// that is started.

func (s *supervisor) meet(pid int) error {
	if s.pid.Load() == 0 {
		if err := s.know(pid); err != nil {
			return err
		}
	}
	root, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := s.inside.enter(pid); err != nil {
		return err
	}
	s.root = root
	return nil
}

// know takes note of the container's first process.

func (s *supervisor) know(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	if !s.first.CompareAndSwap(-1, int32(fd)) {
		return unix.Close(fd)
	}
	s.pid.Store(int32(pid))
	close(s.seen)
	return nil
}

// begin lets the first process become the command, which is free, and its time begin.

func (s *supervisor) begin(listener int) {
	var n seccomp.Notification
	for {
		taken, over := seccomp.Next(listener, &n)
		if over {
			return
		}
		if !taken { // interrupted before it was: it comes again
			continue
		}
		if is, _ := seccomp.Exec(seccomp.Native, n.Call()); is {
			break
		}
		_ = n.Fail(listener, unix.ENOSYS) // sbx-init makes no other
	}
	if s.timeout > 0 {
		time.AfterFunc(s.timeout, func() {
			s.late.Store(true)
			s.end()
		})
	}
	_ = seccomp.Continue(listener, n.ID)
}

// end ends the container by its first process: the namespace ends with it.

func (s *supervisor) end() {
	if fd := s.first.Load(); fd >= 0 {
		_ = unix.PidfdSendSignal(int(fd), unix.SIGKILL, nil, 0)
	}
}

// answer answers until no thread is left that could ask. It waits for that by a poll:
// before Linux 6.11 what waits for a notification is told of no end.
func (s *supervisor) answer(l *listen.Listener, fd int) {
	defer unix.Close(fd)
	defer l.Close()
	for {
		pf := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(pf, -1); err == unix.EINTR {
			continue
		}
		if pf[0].Revents&unix.POLLIN == 0 {
			return
		}
		taken, over := l.Take(fd)
		if over {
			return
		}
		if taken {
			s.turn.Lock()
			l.Answer()
			s.turn.Unlock()
		}
	}
}

// received is the descriptor that came over a socket, and who sent it.

// over waits for the end of the container's first process, and finishes the record.

// reapedWithin is how long an engine is given to take note of the end of a container.

// exitOf is how a process ended that is another's child: /proc has it as long as its parent

// has not taken note, and its pidfd after that (PIDFD_INFO_EXIT, Linux 6.15).

// zombie is the last field of /proc/PID/stat (proc_pid_stat(5)), where that is the pidfd's

// process still.

// wait waits for an event at a descriptor, or its end; d < 0 is for ever.

// gone waits until the supervisor of a container that is no more has written the record;

// false where there is none.

// inside has functions see the container's files at their paths, by a thread of its own.

// enter has the thread enter the mounts of a process.

// do calls f there and waits for it; not at all where there never was a process.

// newSupervisor is one to which processes can come, though nobody answers yet.
func newSupervisor(dir string) (*supervisor, error) {
	s := &supervisor{inside: newInside(), root: -1, seen: make(chan struct{})}
	s.first.Store(-1)
	return s, s.open(dir)
}

// attended is what the supervisor of a container needs.
func (m *making) attended(s *Seen, c *run.Container) (err error) {
	sv := m.supervisor
	sv.timeout, sv.alone = c.Of.Plan.Limits.Timeout, c.Of.Resolved.Network == spec.NetworkNone
	c.Ask = &run.Ask{ID: m.record.ID, At: m.record.StartedAt, Version: m.Version, Argv: m.t.Args, Cwd: m.t.Cwd, Documents: m.record.Documents,
		Resolved: c.Of.Resolved, Inputs: s.Inputs, Voice: run.Reporter{Quiet: true, Say: func(string) {}, Problem: func(*spec.Problem) {}}}
	c.Record, c.Sink = m.record, m.sink
	c.First = func() int { return int(sv.pid.Load()) }
	c.End, c.Inside = sv.end, sv.inside.do
	if c.Of.Plan.Base == wrap.BaseEmpty { // advice may be about what is not in view
		s.files.root = m.t.Root
		c.Inside, c.Stands = func(f func()) { f() }, s.files.stands
	}
	sv.run, err = run.Attend(*c)
	return err
}
