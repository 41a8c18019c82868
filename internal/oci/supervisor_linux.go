package oci

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit/listen"
	"sbx/internal/oci/walls"
	"sbx/internal/run"
	"sbx/seccomp"
	"sbx/spec"
	"sbx/wrap"
)

// supervisor answers a container's seccomp notifications from before its first process starts until
// the last one has ended. It runs in the sbx-oci process that created the container, which stays
// alive to do this.
type supervisor struct {
	run   *run.Attended
	door  int // listening socket to which each process's sbx-init connects
	alive int // descriptor of lifeFile, locked (flock(2)) while the supervisor lives
	asked

	firstProcess

	turn   sync.Mutex  // guards run's state
	walled sync.Map    // pids of sbx-init that have handed over their listener, until the command starts
	clock  sync.Once   // starts limits.timeout
	late   atomic.Bool // limits.timeout has killed the container
}

// firstProcess is the container's first process, as the supervisor gets to know it.
type firstProcess struct {
	root   int           // O_PATH descriptor of the container's root; -1 before
	mounts int           // descriptor of its mount namespace
	first  atomic.Int32  // a pidfd; -1 before
	pid    atomic.Int32  // 0 before
	seen   chan struct{} // closed once first and pid are set
	known  sync.Once
	unmet  error       // why the supervisor is not in its container, see met
	begun  atomic.Bool // it has handed over its listener and becomes the command
}

// asked holds the facts about its container that a supervisor needs.
type asked struct {
	program file // the file that is mounted as sbx-init in the container; held keeps its inode in use
	held    int
	walls   []byte        // what sbx-init applies, encoded
	follows bool          // see follow
	timeout time.Duration // 0 for none
	alone   bool          // the container's network must hold no interface but loopback
	looked  looked
}

// serve accepts processes and handles run's events until this process exits.
func (s *supervisor) serve() {
	waits := s.run.Waiters()
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

// welcome answers what a process asks that the runtime starts, and then its notifications until it
// ends. conn is closed.
func (s *supervisor) welcome(conn int) {
	runtime.LockOSThread() // for its notifications
	listener, pid := s.hear(conn)
	var l *listen.Listener
	isFirst := false
	if listener >= 0 {
		isFirst = int(s.pid.Load()) == pid && s.begun.CompareAndSwap(false, true)
		s.turn.Lock()
		l = s.run.Listener(listener, s.root)
		s.turn.Unlock()
		seccomp.Sync(listener)
		if s.follows {
			s.walled.Store(pid, true)
		}
		if _, err := unix.Write(conn, []byte{0}); err != nil {
			unix.Close(listener)
			listener = -1
		}
	}
	unix.Close(conn) // a process that waits for an answer fails without starting the command
	if listener < 0 {
		return
	}
	s.clock.Do(s.limit)
	s.answer(l, listener, isFirst)
}

// hear answers messages up to the one that brings the seccomp listener of process pid, which is about
// to execute its command; it is -1 if none comes.
func (s *supervisor) hear(conn int) (listener, pid int) {
	for {
		message, fd, pid, err := received(conn)
		switch {
		case err != nil:
		case message == walls.Follow:
			<-s.seen
			if s.follows {
				err = s.follow(pid)
			}
			if err == nil {
				_, err = unix.Write(conn, []byte{0})
			}
		case !s.isInit(pid): // another process could have its calls taken for the container's
			err = unix.EPERM
		case message == walls.Ask:
			err = walls.Send(conn, s.walls)
		case message == walls.Listener && isListener(fd):
			if err = s.met(pid); err == nil && s.alone && !s.begun.Load() { // the engine may have added an interface since create
				err = emptyNetwork(pid)
			}
			if err == nil {
				return fd, pid
			}
		default:
			err = unix.EPERM
		}
		if err != nil {
			unix.Close(fd)
			return -1, 0
		}
	}
}

// isListener reports whether fd is a seccomp listener: a filter of the container's own can let seccomp(2)
// seem to succeed.
func isListener(fd int) bool {
	is, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	return is == "anon_inode:seccomp notify"
}

// met looks at the container by its process pid, unless that was tried before, and returns how that went.
func (s *supervisor) met(pid int) error {
	s.known.Do(func() { s.unmet = s.meet(pid) })
	return s.unmet
}

// meet takes the container's root and mounts from the first process that is known.
func (s *supervisor) meet(pid int) error {
	if s.pid.Load() == 0 {
		if err := s.know(pid); err != nil {
			return err
		}
	}
	mounts, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/ns/mnt", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	root, err := s.looked.in(pid)
	if err != nil {
		unix.Close(mounts)
		return err
	}
	s.root, s.mounts = root, mounts
	return nil
}

// know records pid as the container's first process and opens its pidfd.
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

// limit starts limits.timeout, with the first command in the container: an exec may come before start.
func (s *supervisor) limit() {
	if s.timeout > 0 {
		time.AfterFunc(s.timeout, func() {
			s.late.Store(true)
			s.end()
		})
	}
}

// end kills the container's first process; the kernel then kills its whole pid namespace.
func (s *supervisor) end() {
	if fd := s.first.Load(); fd >= 0 {
		_ = unix.PidfdSendSignal(int(fd), unix.SIGKILL, nil, 0)
	}
}

// answer answers notifications until no thread is left under the filter. The first exec of the
// container's first process makes it the command, and is not charged. answer waits with poll(2): before
// Linux 6.11 a blocked SECCOMP_IOCTL_NOTIF_RECV does not return when the last thread ends.
func (s *supervisor) answer(l *listen.Listener, fd int, first bool) {
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
			if first {
				first = !l.AnswerFirst()
			} else {
				l.Answer()
			}
			s.turn.Unlock()
		}
	}
}

// newSupervisor returns a supervisor to which processes can connect; they wait until serve.
func newSupervisor(dir string) (*supervisor, error) {
	s := &supervisor{firstProcess: firstProcess{root: -1, seen: make(chan struct{}), unmet: unix.EPERM}}
	s.first.Store(-1)
	return s, s.open(dir)
}

// attended configures the making's supervisor for container c and attaches it to run.
func (m *making) attended(s *Seen, c *run.Container, w *walls.Walls, program string) (err error) {
	sv := m.supervisor
	sv.looked = m.looked
	sv.walls, sv.follows = w.Append(nil), canFollow()
	if sv.held, err = unix.Open(program, unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
		return &os.PathError{Op: "open", Path: program, Err: err}
	}
	sv.program = fileOf(sv.held)
	sv.timeout, sv.alone = c.Of.Plan.Limits.Timeout, c.Of.Resolved.Network == spec.NetworkNone
	c.Ask = &run.Ask{ID: m.record.ID, At: m.record.StartedAt, Version: m.Version, Argv: m.t.Args, Cwd: m.t.Cwd, Documents: m.record.Documents,
		Resolved: c.Of.Resolved, Inputs: s.Inputs, Voice: run.Reporter{Quiet: true, Say: func(string) {}, Problem: func(*spec.Problem) {}}}
	c.Record, c.Sink = m.record, m.sink
	c.First = func() int { return int(sv.pid.Load()) }
	c.End, c.Inside = sv.end, sv.inside
	if c.Of.Plan.Base == wrap.BaseEmpty { // hints may name files that are not in view
		s.files.root = m.t.Root
		c.Inside, c.Stands = func(f func()) { f() }, s.files.stands
	}
	sv.run, err = run.Attend(*c)
	return err
}
