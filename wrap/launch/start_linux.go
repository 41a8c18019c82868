package launch

import (
	"runtime"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// Process is a launch in progress. Its methods are called from the one thread that called
// Begin. That thread must stay locked to its goroutine until the process has ended: the
// kernel kills the sandbox when the thread ends (PR_SET_PDEATHSIG).
//
// The parts share the child and do not know one another: script holds the child's steps,
// childFDs the descriptors that it leaves, signalForwarder passes signals on to it, and
// reaper waits for its end.
type Process struct {
	*child
	script
	childFDs
	signalForwarder
	reaper
	groups        groups
	allowed       bool
	firstAnswered bool    // the first notification of the listener was answered
	last          *report // pid 1's report of the command's end
}

// Start is Begin and Load in one.
func Start(p *wrap.Plan, o Options) (*Process, error) {
	pr, err := Begin(p.Opening)
	if err != nil {
		return nil, err
	}
	return pr, pr.Load(p, o)
}

// Begin clones a child that carries out the opening and then waits for Load. Without a pid
// namespace there is no child yet. The error is a *StepError; Ready returns the error of a
// step in the child.
func Begin(o wrap.Opening) (*Process, error) {
	if !o.Has(wrap.PidNS) {
		return begin(o, nil)
	}
	return begin(o, Open(&o))
}

// begin is Begin with the given steps.
func begin(o wrap.Opening, steps []Step) (*Process, error) {
	runtime.LockOSThread()
	Slack() // since main began, this goroutine may have come to a thread that still has the other
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, stepError("socketpair", err)
	}
	c := &child{noPidNS: steps == nil, sock: ends[0], childSock: ends[1], selfPidfd: -1, pidfd: -1, target: -1}
	pr := &Process{child: c, script: script{child: c, opening: o}, childFDs: noChildFDs, signalForwarder: signalForwarder{child: c, signals: -1, terminal: -1}, reaper: reaper{child: c}}
	if fd, err := unix.PidfdOpen(unix.Getpid(), 0); err == nil {
		c.selfPidfd = fd
	}
	if steps == nil {
		return pr, nil
	}
	// An earlier launch may have made this process not dumpable; the child could then not
	// write its id maps.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
		pr.closeAll()
		return nil, stepError("prctl", err)
	}
	pr.openingSteps = steps
	pr.openingProgram = newProgram(steps, reportFailedOpening)
	if err := pr.clone(pr.openingProgram, unix.CLONE_VM|unix.CLONE_FILES); err != nil {
		pr.closeAll()
		return nil, err
	}
	if o.IDs.All && o.Has(wrap.UserNS) {
		if err := pr.mapIDs(); err != nil {
			pr.Kill()
			return nil, err
		}
	}
	return pr, nil
}

// Load gives the child the rest of a Plan, whose opening must be the one passed to Begin. It
// does
// not wait; Ready reports the child's outcome. After an error the child is gone.
func (pr *Process) Load(p *wrap.Plan, o Options) error {
	if !pr.opening.Same(&p.Opening) {
		pr.Kill()
		return stepError("load", unix.EINVAL)
	}
	if err := pr.groups.make(&p.Limits); err != nil {
		pr.Kill()
		return err
	}
	in := input(p, o, pr.childSock)
	pr.firstAnswered = uncounted(p) // then the listener notifies nothing before Supervise answers
	pr.terminal = in.Terminal
	if o.Signals > 0 {
		pr.signals = o.Signals
	}
	if hasRenewals(p) {
		pr.renewal.list = p.Watch.Renew
	}
	pr.renewal.remount = p.Remount
	pr.remounts = remounting{needed: p.Remount, bound: len(p.Caps) == 0}
	if pr.noPidNS {
		return pr.load(loaded(p, in))
	}
	// Each step becomes part of the program at once, and is generated again if one fails:
	// keeping all steps for that case would take a hundred KiB.
	pr.programs = func() Programs { return loaded(p, in) }
	setup := makeProgram(stepsOf(p), reportFailedSetup)
	l := &mountList{list: list{steps: make([]Step, 0, 64), out: setup}}
	l.setup(p, in)
	l.spawn(p, in)
	l.flush()
	return pr.run(setup, newProgram(commandOf(p, in), reportFailedCommand))
}

// load is Load with ready-made programs, whose opening already runs.
func (pr *Process) load(programs Programs) error {
	pr.programs = func() Programs { return programs }
	return pr.run(newProgram(programs.Setup, reportFailedSetup), newProgram(programs.Command, reportFailedCommand))
}

// run passes the programs to the child. Without a pid namespace it clones the command
// instead.
func (pr *Process) run(setup, command *program) error {
	pr.command = command
	pr.command.sock = uintptr(pr.childSock)
	if pr.noPidNS {
		return pr.cloneCommand()
	}
	pr.setup = setup
	pr.setup.sock = pr.command.sock
	pr.setup.slots, pr.command.slots = pr.openingProgram.slots, pr.openingProgram.slots
	pr.setup.spawn = pr.command
	pr.setup.flags = unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_PIDFD | uintptr(unix.SIGCHLD)
	pr.setup.stack = pr.command.newStack()
	pr.command.pidfdFrom = &pr.setup.pidfd // clone writes the command's pidfd there, and the command reports it
	pr.openingProgram.next = pr.setup
	// If the child is gone, Ready returns the reason.
	_ = pr.goOn()
	return nil
}

// cloneCommand clones the command itself. It leaves the shared descriptor table before it
// reports that it is ready.
func (pr *Process) cloneCommand() error {
	share := uintptr(unix.CLONE_VM)
	if pr.groups.boundsMemory {
		// The out-of-memory killer kills every process that shares the victim's memory (see
		// package cgroup). Since this clone is not a vfork, the child gets a copy.
		share = 0
	}
	_ = unix.Getrusage(unix.RUSAGE_CHILDREN, &pr.childrenBefore)
	if err := pr.clone(pr.command, share|unix.CLONE_FILES); err != nil {
		pr.closeAll()
		return err
	}
	pr.target = pr.pidfd
	return nil
}

// Ready waits until the child has carried out every step except the exec. A *StepError
// reports the step that failed; the child is gone then.
func (pr *Process) Ready() error {
	rep, err := pr.receive()
	for err == nil && rep.kind == reportEach {
		if err = pr.remount(rep); err == nil {
			rep, err = pr.receive()
		}
	}
	pr.remounts.close()
	if err != nil {
		return err
	}
	if rep.kind == reportReady {
		if pr.noPidNS { // only the child has its end now, so that the exec closes it, which Go notices
			pr.closeChildSock()
		} else {
			pr.target = int(rep.index)
		}
		if pr.noPidNS && pr.groups.boundsMemory { // the supervisor does not see its slots, as its memory is a copy
			pr.command.slots[slotListener] = uintptr(rep.value)
		}
		pr.adopt(pr.take)
		if err := pr.groups.place(pr.child); err != nil {
			pr.Kill()
			return err
		}
		return nil
	}
	e := pr.failed(rep)
	pr.Kill()
	return e
}

// Allow lets the command start as soon as the child has finished all other steps. A
// supervisor that has nothing left to do spares the child one wait by this.
func (pr *Process) Allow() {
	if pr.groups.set != nil || pr.remounts.needed {
		return // the command must be moved into its cgroup first, or the child waits for other messages
	}
	if hasKeys() {
		return // only Go knows which signals came before the exec
	}
	pr.allowed, started = true, 1
	_ = pr.goOn() // if the child is gone, Go returns the reason
}

// Go lets the command start if Allow has not, and waits until it has started. If the command
// could not be executed, the error is a *StepError for the step execve.
func (pr *Process) Go() error {
	if !pr.allowed {
		started = 1
		pr.beforeExec = pendingSignals(pr.signals)
		if err := pr.goOn(); err != nil {
			pr.Kill()
			return err
		}
	}
	rep, err := pr.receive()
	if err == errGone && pr.noPidNS {
		return nil // the exec closed its end of the socket
	}
	if err != nil {
		return err
	}
	if rep.kind == reportStarted {
		pr.closeChildSock()
		// Pid 1 stays on the stack that openingProgram holds. The arguments of the steps, and
		// the stack that the command used until its exec, are not needed any more.
		pr.setup.keep, pr.command.keep = nil, nil
		pr.programs = nil
		return nil
	}
	e := pr.failed(rep)
	pr.Kill()
	return e
}

// Kill kills the sandbox and waits for its end.
func (pr *Process) Kill() {
	if pr.pidfd >= 0 {
		unix.PidfdSendSignal(pr.pidfd, unix.SIGKILL, nil, 0)
		pr.collect()
	}
	pr.closeAll()
}

func (pr *Process) closeAll() {
	pr.groups.remove()
	pr.closeSlots()
	pr.child.close()
	pr.childFDs.close()
}

// Try carries out a Plan up to the point where the command would start, and then kills the
// sandbox. The error is the *StepError of the step that failed.
func Try(p *wrap.Plan) error {
	pr, err := Start(p, Options{Caller: Inherited(), KeepAll: !p.Filter.On})
	if err != nil {
		return err
	}
	if err := pr.Ready(); err != nil {
		return err
	}
	pr.Kill()
	return nil
}
