package launch

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// Grace is how long a tree whose time is over has to end by itself.
const Grace = 2 * time.Second

// lastResort is how long after SIGKILL to the command pid 1 itself is ended: it
// ends with the command, unless somebody outside has stopped it.
const lastResort = time.Second

// givenUpAfter is how long after SIGKILL to all of a sandbox that can reach its supervisor
// the supervisor ends itself: an answer of its may wait for the sandbox in the kernel,
// and what was killed for that answer (a file system by fuse(4) that never speaks).
const givenUpAfter = 20 * time.Second

// Deadline ends a sandbox that runs for too long: SIGTERM to every process, and
// SIGCONT, since one that is stopped cannot act on it; after a grace SIGKILL.
type Deadline struct {
	of      *child
	timer   int
	atTimer func(*Deadline)
	Hit     bool // the time was over before the command ended
}

// Deadline begins to count.
func (c *child) Deadline(after time.Duration) (*Deadline, error) {
	fd, err := timer(after, 0)
	if err != nil {
		return nil, err
	}
	return &Deadline{of: c, timer: fd, atTimer: (*Deadline).terminate}, nil
}

// Waiter is what the supervisor waits for.
func (d *Deadline) Waiter() Waiter { return Waiter{FD: d.timer, Event: d.event} }

// Close is for when the command has ended.
func (d *Deadline) Close() { unix.Close(d.timer) }

func (d *Deadline) event() {
	if !ticked(d.timer) {
		return
	}
	d.Hit = true
	d.atTimer(d)
}

func (d *Deadline) terminate() {
	d.of.signalTree(unix.SIGTERM, unix.SIGCONT)
	d.after(Grace, (*Deadline).kill)
}

// kill ends the command: pid 1 then tells what was used, and takes the rest
// along. Without pid 1 the sweep does.
func (d *Deadline) kill() {
	unix.PidfdSendSignal(d.of.target, unix.SIGKILL, nil, 0)
	d.of.alarmIfReachable()
	d.after(lastResort, func(d *Deadline) { unix.PidfdSendSignal(d.of.pidfd, unix.SIGKILL, nil, 0) })
}

func (d *Deadline) after(t time.Duration, next func(*Deadline)) {
	d.atTimer = next
	_ = arm(d.timer, t, 0) // as it was armed before
}

// timer is a descriptor that is readable after a time, and then every so often.
func timer(after, every time.Duration) (int, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return -1, err
	}
	return fd, arm(fd, after, every)
}

// Every is a Waiter that calls f every so often; false where there can be no timer.
func Every(d time.Duration, f func()) (Waiter, bool) {
	fd, err := timer(d, d)
	if err != nil {
		unix.Close(fd)
		return Waiter{}, false
	}
	return Waiter{FD: fd, Event: func() {
		if ticked(fd) {
			f()
		}
	}}, true
}

func arm(fd int, after, every time.Duration) error {
	return unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{
		Value: unix.NsecToTimespec(max(int64(after), 1)), Interval: unix.NsecToTimespec(int64(every))}, nil)
}

// ticked reads a timer; false where it was not its time.
func ticked(fd int) bool {
	var b [8]byte
	n, err := unix.Read(fd, b[:])
	return err == nil && n == len(b)
}

// maxTree bounds how many processes of a tree are looked at.
const maxTree = 1 << 16

// tree is the pids of the command and its descendants, each behind its parent.
func (c *child) tree() []int {
	pids := read.Children("self") // without a pid namespace all are this process's descendants
	if !c.noPidNS {
		pids = read.Children(strconv.Itoa(c.pid))
	}
	for i := 0; i < len(pids) && len(pids) < maxTree; i++ {
		pids = append(pids, read.Children(strconv.Itoa(pids[i]))...)
	}
	return pids
}

// signalTree sends signals to every process of the tree, the command in any
// case.
func (c *child) signalTree(signals ...unix.Signal) {
	pids := c.tree()
	in := c.membership(pids)
	for _, sig := range signals { // first: it may do more than notice that its children end
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

// membership is who may be a parent in the tree.
func (c *child) membership(pids []int) map[int]bool {
	in := map[int]bool{unix.Getpid(): true, c.pid: true}
	for _, pid := range pids {
		in[pid] = true
	}
	return in
}

// openIn opens a pidfd of a process of the tree; false for one that is gone, or
// whose pid was taken by another process meanwhile.
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

// giveUpLater lets the process end by SIGALRM where a sandbox that can reach it keeps
// it from its own end.
func (c *child) alarmIfReachable() {
	if c.noPidNS {
		setDefault(uintptr(unix.SIGALRM))
		set := [2]uint64{1 << (unix.SIGALRM - 1)}
		sigmask(unix.SIG_UNBLOCK, &set, nil)
		alarm(givenUpAfter)
	}
}

// alarm has the kernel send SIGALRM after a time; zero takes that back.
func alarm(after time.Duration) {
	_, _ = unix.Setitimer(unix.ItimerReal, unix.Itimerval{Value: unix.NsecToTimeval(int64(after))})
}
