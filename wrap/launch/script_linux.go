package launch

import (
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// namespaceFlags are the namespaces that clone creates. A network namespace takes as long
// as all others together, so the child creates it itself (list.network) while the
// supervisor surveys the workspace.
var namespaceFlags = [...]uintptr{
	wrap.UserNS: unix.CLONE_NEWUSER, wrap.MountNS: unix.CLONE_NEWNS, wrap.PidNS: unix.CLONE_NEWPID,
	wrap.NetNS: 0, wrap.IPCNS: unix.CLONE_NEWIPC, wrap.UTSNS: unix.CLONE_NEWUTS,
	wrap.CgroupNS: unix.CLONE_NEWCGROUP,
}

// clone starts the child that runs p.
func (s *script) clone(p *program, flags uintptr) error {
	p.sock = uintptr(s.childSock)
	p.parent = int32(s.selfPidfd)
	flags |= unix.CLONE_PIDFD | uintptr(unix.SIGCHLD)
	for _, n := range s.opening.Namespaces {
		flags |= namespaceFlags[n]
	}
	var pidfd int32 = -1
	pid, errno := cloneReserving(s.opening.Has(wrap.UserNS), func() (int, syscall.Errno) { return p.clone(flags, &pidfd) })
	if errno != 0 {
		e := stepError("clone", errno)
		e.Step.On = "namespaces"
		return e
	}
	s.pid, s.pidfd = pid, int(pidfd)
	return nil
}

// clone starts a child on its own stack, with every signal blocked.
func (p *program) clone(flags uintptr, pidfd *int32) (pid int, e syscall.Errno) {
	stack := p.newStack()
	var old [2]uint64
	full := [2]uint64{^uint64(0), ^uint64(0)}
	sigmask(unix.SIG_SETMASK, &full, &old)
	r := int(cloneChild(flags, stack, pidfd, p))
	sigmask(unix.SIG_SETMASK, &old, nil)
	if r < 0 {
		return 0, syscall.Errno(-r)
	}
	return r, 0
}

// script is what the child carries out: one program after another.
type script struct {
	*child
	opening        wrap.Opening
	openingSteps   []Step          // the steps of the opening
	programs       func() Programs // generates the steps again, to describe one that failed
	openingProgram *program        // nil without a pid namespace
	setup          *program
	command        *program
	remounts       remounting
}

// failed turns the report of a failed step into a StepError.
func (s *script) failed(rep *report) *StepError {
	e := &StepError{Program: "setup", Index: int(rep.index), Errno: Errno(rep.value)}
	steps := s.openingSteps
	switch rep.kind {
	case reportFailedOpening:
		e.Program = "opening"
	case reportFailedSetup:
		steps = s.programs().Setup
	case reportFailedCommand:
		e.Program, steps = "command", s.programs().Command
	}
	if e.Index < len(steps) {
		e.Step = steps[e.Index]
	}
	if e.Step.Do == DoEach && s.remounts.lackingPath != "" {
		e.Step.On = s.remounts.lackingPath
	}
	return e
}

// mapIDs maps all of the caller's ids to themselves and lets the child go on.
func (s *script) mapIDs() error {
	dir := "/proc/" + strconv.Itoa(s.pid)
	if err := writeFile(dir+"/uid_map", Map(s.opening.IDs.UIDs)); err != nil {
		return err
	}
	if err := writeFile(dir+"/gid_map", Map(s.opening.IDs.GIDs)); err != nil {
		return err
	}
	return s.goOn()
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

// slots returns the results that the child keeps; nil before there is a child.
func (s *script) slots() *[64]uintptr {
	switch {
	case s.openingProgram != nil:
		return s.openingProgram.slots
	case s.command != nil:
		return s.command.slots
	}
	return nil
}

// take returns the descriptor in a slot and empties the slot.
func (s *script) take(at Slot) int {
	slots := s.slots()
	fd := int(slots[at])
	slots[at] = emptySlot
	return fd
}

// closeSlots closes the descriptors that a failed child has left open in the shared
// descriptor table.
func (s *script) closeSlots() {
	slots := s.slots()
	if slots == nil || s.childSock < 0 { // the child has left the shared table
		return
	}
	if s.setup != nil && s.setup.pidfd >= 0 && int(s.setup.pidfd) != s.target {
		unix.Close(int(s.setup.pidfd))
	}
	for at := slotListener; at < 64; at++ {
		if fd := int(slots[at]); fd > 2 {
			unix.Close(fd)
		}
		slots[at] = emptySlot
	}
	if s.setup != nil {
		s.setup.pidfd = -1
	}
}
