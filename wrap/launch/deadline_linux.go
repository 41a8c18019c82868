package launch

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/internal/sys"
)

// Grace is how long the processes may take to end after SIGTERM.
const Grace = 2 * time.Second

// lastResort is how long after SIGKILL to the command pid 1 itself is killed: it ends with
// the command unless a process outside has stopped it.
const lastResort = time.Second

// givenUpAfter is how long after SIGKILL to all processes the supervisor kills itself, if
// the sandbox can reach it: one of its answers may wait in the kernel for the sandbox, and
// a process inside may in turn wait for that answer (a fuse(4) file system that never
// answers).
const givenUpAfter = 20 * time.Second

// Deadline ends a sandbox that runs for too long: it sends SIGTERM to every process, and
// SIGCONT, since a stopped process cannot act on SIGTERM; after Grace it sends SIGKILL.
type Deadline struct {
	of      *child
	timer   int
	atTimer func(*Deadline)
	Hit     bool // the time limit passed before the command ended
}

// Deadline starts the time limit.
func (c *child) Deadline(after time.Duration) (*Deadline, error) {
	fd, err := sys.Timer(after, 0)
	if err != nil {
		return nil, err
	}
	return &Deadline{of: c, timer: fd, atTimer: (*Deadline).terminate}, nil
}

// Waiter returns what the supervisor must wait for.
func (d *Deadline) Waiter() Waiter { return Waiter{FD: d.timer, Event: d.event} }

// Close is called when the command has ended.
func (d *Deadline) Close() { unix.Close(d.timer) }

func (d *Deadline) event() {
	if !sys.Hush(d.timer) {
		return
	}
	d.Hit = true
	d.atTimer(d)
}

func (d *Deadline) terminate() {
	d.of.signalTree(unix.SIGTERM, unix.SIGCONT)
	d.after(Grace, (*Deadline).kill)
}

// kill kills the command: pid 1 then reports the usage and takes all other processes with
// it. Without pid 1 sweepProcesses does.
func (d *Deadline) kill() {
	unix.PidfdSendSignal(d.of.target, unix.SIGKILL, nil, 0)
	d.of.alarmIfReachable()
	d.after(lastResort, func(d *Deadline) { unix.PidfdSendSignal(d.of.pidfd, unix.SIGKILL, nil, 0) })
}

func (d *Deadline) after(t time.Duration, next func(*Deadline)) {
	d.atTimer = next
	sys.Arm(d.timer, t, 0)
}

// Every returns a Waiter that calls f at an interval; false if no timer can be created.
func Every(d time.Duration, f func()) (Waiter, bool) {
	fd, err := sys.Timer(d, d)
	return Waiter{FD: fd, Event: func() {
		if sys.Hush(fd) {
			f()
		}
	}}, err == nil
}

// maxTree bounds how many processes are examined.
const maxTree = 1 << 16

// tree returns the pids of the command and its descendants, each after its parent.
func (c *child) tree() []int {
	pids := read.Children("self") // without a pid namespace they are all the supervisor's descendants
	if !c.noPidNS {
		pids = read.Children(strconv.Itoa(c.pid))
	}
	for i := 0; i < len(pids) && len(pids) < maxTree; i++ {
		pids = append(pids, read.Children(strconv.Itoa(pids[i]))...)
	}
	return pids
}

// signalTree sends signals to every process of the sandbox, and always to the command.
func (c *child) signalTree(signals ...unix.Signal) {
	pids := c.tree()
	in := c.membership(pids)
	for _, sig := range signals { // first, since it may have more to do than notice that its children end
		unix.PidfdSendSignal(c.target, sig, nil, 0)
	}
	command := pidOf(c.target)
	for _, pid := range pids {
		if pid == command {
			continue
		}
		fd, ok := openIn(in, pid)
		if !ok {
			continue
		}
		for _, sig := range signals {
			unix.PidfdSendSignal(fd, sig, nil, 0)
		}
		unix.Close(fd)
	}
}

// membership returns the pids that may be parents of a process in the sandbox.
func (c *child) membership(pids []int) map[int]bool {
	in := map[int]bool{unix.Getpid(): true, c.pid: true}
	for _, pid := range pids {
		in[pid] = true
	}
	return in
}

// openIn opens a pidfd of a process of the sandbox; false if the process is gone or another
// process has its pid now.
func openIn(in map[int]bool, pid int) (fd int, ok bool) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1, false
	}
	if !in[read.Parent(pid)] {
		unix.Close(fd)
		return -1, false
	}
	return fd, true
}

// alarmIfReachable has SIGALRM end the supervisor later, in case a sandbox that can reach
// it keeps it from ending.
func (c *child) alarmIfReachable() {
	if c.noPidNS {
		setDefault(uintptr(unix.SIGALRM))
		unblock(1 << (unix.SIGALRM - 1))
		alarm(givenUpAfter)
	}
}

// alarm makes the kernel send SIGALRM after a time; zero cancels that.
func alarm(after time.Duration) {
	_, _ = unix.Setitimer(unix.ItimerReal, unix.Itimerval{Value: unix.NsecToTimeval(int64(after))})
}
