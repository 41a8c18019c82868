package launch

import (
	"syscall"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// namespaceFlags are what clone makes. A network namespace takes as long as all
// else together, so the child makes that one itself (list.network), while the
// supervisor looks at the workspace.
var namespaceFlags = [...]uintptr{
	wrap.UserNS: unix.CLONE_NEWUSER, wrap.MountNS: unix.CLONE_NEWNS, wrap.PidNS: unix.CLONE_NEWPID,
	wrap.NetNS: 0, wrap.IPCNS: unix.CLONE_NEWIPC, wrap.UTSNS: unix.CLONE_NEWUTS,
	wrap.CgroupNS: unix.CLONE_NEWCGROUP,
}

// clone starts the child that runs p.
func (s *script) clone(p *program, flags uintptr) error {
	p.sock = uintptr(s.far)
	p.parent = int32(s.own)
	flags |= unix.CLONE_PIDFD | uintptr(unix.SIGCHLD)
	for _, n := range s.opening.Namespaces {
		flags |= namespaceFlags[n]
	}
	var pidfd int32 = -1
	pid, errno := reserving(s.opening.Has(wrap.UserNS), func() (int, syscall.Errno) { return p.clone(flags, &pidfd) })
	if errno != 0 {
		e := stepError("clone", errno)
		e.Step.On = "namespaces"
		return e
	}
	s.pid, s.pidfd = pid, int(pidfd)
	return nil
}

// clone starts a child on a stack of its own, with every signal blocked.
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
