package launch

import (
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"sbx/seccomp"
	"sbx/wrap"
)

// Options are what a launch takes from its caller besides the Plan.
type Options struct {
	Caller  Caller
	Keep    []int // descriptors beyond 0-2 for the command
	KeepAll bool  // all of the caller's descriptors
}

// Process is a launch under way. Its methods are called from the one thread
// that called Start, which must stay locked to its goroutine until the process
// has ended: the kernel ends the sandbox with that thread (PR_SET_PDEATHSIG).
type Process struct {
	plan     *wrap.Plan
	programs Programs
	setup    *program
	command  *program
	pid      int // pid 1 of the sandbox, or the command
	pidfd    int // of pid
	target   int // pidfd of the command, which signals go to
	sock     int // the supervisor's end
	far      int // the child's end, while the descriptor table is shared
}

// namespaceFlags are what clone makes. A network namespace takes as long as all
// else together, so the child makes that one itself (list.network), while the
// supervisor writes the record.
var namespaceFlags = [...]uintptr{
	wrap.UserNS: unix.CLONE_NEWUSER, wrap.MountNS: unix.CLONE_NEWNS, wrap.PidNS: unix.CLONE_NEWPID,
	wrap.NetNS: 0, wrap.IPCNS: unix.CLONE_NEWIPC, wrap.UTSNS: unix.CLONE_NEWUTS,
	wrap.CgroupNS: unix.CLONE_NEWCGROUP,
}

// Start clones the child that carries the Plan out. It returns once the clone
// is made; Ready tells how the child fared. The error is a *StepError.
func Start(p *wrap.Plan, o Options) (*Process, error) {
	runtime.LockOSThread()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, stepError("socketpair", err)
	}
	pr := &Process{plan: p, sock: ends[0], far: ends[1], pidfd: -1, target: -1}
	in := Input{Caller: o.Caller, Keep: o.Keep, KeepAll: o.KeepAll, Sock: ends[1]}
	if p.Filter.On {
		in.Own = seccomp.Shipped(seccomp.Options{Root: p.Filter.Root, Unix: p.Filter.Unix, NoInet: p.Filter.NoInet}, seccomp.Native)
		in.Filter, in.Late = in.Own, p.Filter.Code != nil
		if in.Late {
			in.Filter = string(p.Filter.Code)
		}
	}
	pr.programs = Steps(p, in)
	if err := pr.clone(); err != nil {
		pr.closeAll()
		return nil, err
	}
	if p.IDs.All && p.Has(wrap.UserNS) {
		if err := pr.mapIDs(); err != nil {
			pr.Kill()
			return nil, err
		}
	}
	return pr, nil
}

func stepError(name string, err error) *StepError {
	e, _ := err.(syscall.Errno)
	return &StepError{Program: "setup", Index: -1, Step: Step{Name: name}, Errno: Errno(e)}
}

// clone prepares the programs and clones the first.
func (pr *Process) clone() error {
	first := newProgram(pr.programs.Command, reportFailedCommand)
	first.sock = uintptr(pr.far)
	pr.command = first
	flags := unix.CLONE_VM | unix.CLONE_PIDFD | uintptr(unix.SIGCHLD)
	if len(pr.programs.Setup) > 0 {
		pr.setup = newProgram(pr.programs.Setup, reportFailedSetup)
		pr.setup.sock = first.sock
		pr.setup.slots = first.slots
		pr.setup.spawn = first
		pr.setup.flags = unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_PIDFD | uintptr(unix.SIGCHLD)
		pr.setup.stack = first.newStack()
		// The command reports its pidfd, which clone writes into setup.
		first.pidfdFrom = &pr.setup.pidfd
		first = pr.setup
		flags |= unix.CLONE_FILES
	}
	for _, n := range pr.plan.Namespaces {
		flags |= namespaceFlags[n]
	}
	stack := first.newStack()
	var pidfd int32 = -1
	var old [2]uint64
	full := [2]uint64{^uint64(0), ^uint64(0)}
	sigmask(&full, &old)
	r := cloneChild(flags, stack, &pidfd, first)
	sigmask(&old, nil)
	if int(r) < 0 {
		e := stepError("clone", syscall.Errno(-int(r)))
		e.Step.On = "namespaces"
		return e
	}
	pr.pid, pr.pidfd = int(r), int(pidfd)
	if pr.setup == nil { // the child has a descriptor table of its own
		pr.target = pr.pidfd
		unix.Close(pr.far)
		pr.far = -1
	}
	return nil
}

// mapIDs maps all of the caller's ids onto themselves and lets the child go on.
func (pr *Process) mapIDs() error {
	dir := "/proc/" + strconv.Itoa(pr.pid)
	if err := writeFile(dir+"/uid_map", Map(pr.plan.IDs.UIDs)); err != nil {
		return err
	}
	if err := writeFile(dir+"/gid_map", Map(pr.plan.IDs.GIDs)); err != nil {
		return err
	}
	return pr.word()
}

func writeFile(path, content string) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		_, err = unix.Write(fd, []byte(content))
		unix.Close(fd)
	}
	if err != nil {
		e := stepError("write", err)
		e.Step.On = path
		return e
	}
	return nil
}

// word sends the child its next word to go on.
func (pr *Process) word() error {
	if err := unix.Send(pr.sock, []byte{1}, unix.MSG_NOSIGNAL); err != nil {
		return stepError("send", err)
	}
	return nil
}

// Ready waits until the child has done every step but the exec. A *StepError
// tells which step failed; the child is gone then.
func (pr *Process) Ready() error {
	rep, err := pr.receive()
	if err != nil {
		return err
	}
	if rep.kind == reportReady {
		if pr.setup != nil {
			pr.target = int(rep.index)
		}
		return nil
	}
	return pr.failure(rep)
}

// Go lets the command start, and waits until it has. A *StepError whose step
// is execve tells why the command could not be executed.
func (pr *Process) Go() error {
	if err := pr.word(); err != nil {
		pr.Kill()
		return err
	}
	rep, err := pr.receive()
	if err == errGone && pr.setup == nil {
		return nil // its end of the socket was closed by the exec
	}
	if err != nil {
		return err
	}
	if rep.kind == reportStarted {
		unix.Close(pr.far)
		pr.far = -1
		pr.setup.keep, pr.command.keep = nil, nil
		return nil
	}
	return pr.failure(rep)
}

// failure turns a report into a StepError and buries the child.
func (pr *Process) failure(rep *report) error {
	e := &StepError{Program: "setup", Index: int(rep.index), Errno: Errno(rep.value)}
	steps := pr.programs.Setup
	if rep.kind == reportFailedCommand {
		e.Program, steps = "command", pr.programs.Command
	}
	if e.Index < len(steps) {
		e.Step = steps[e.Index]
	}
	pr.Kill()
	return e
}

// Kill ends the sandbox and waits for its end.
func (pr *Process) Kill() {
	if pr.pidfd >= 0 {
		unix.PidfdSendSignal(pr.pidfd, unix.SIGKILL, nil, 0)
		var ws unix.WaitStatus
		for {
			if _, err := unix.Wait4(pr.pid, &ws, 0, nil); err != unix.EINTR {
				break
			}
		}
	}
	pr.closeAll()
}

func (pr *Process) closeAll() {
	if pr.target != pr.pidfd && pr.target >= 0 {
		unix.Close(pr.target)
	}
	for _, fd := range []int{pr.pidfd, pr.sock, pr.far} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	pr.pidfd, pr.sock, pr.far, pr.target = -1, -1, -1, -1
}

// Pid is the pid outside of pid 1, or of the command where there is no pid
// namespace.
func (pr *Process) Pid() int { return pr.pid }
