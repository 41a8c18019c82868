package launch

import (
	"runtime"

	"golang.org/x/sys/unix"

	"sbx/seccomp"
	"sbx/wrap"
)

// noSuchCall is the number of a system call that no kernel has: ENOSYS.
const noSuchCall = 0x3fff

// startWith is Start with a say in the steps, for tests that make one fail. It
// must stay what Start is; TestStartWithIsStart holds it to that.
func startWith(p *wrap.Plan, o Options, change func(*Programs)) (*Process, error) {
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
	change(&pr.programs)
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

// spoil makes a step fail with ENOSYS, whatever it was.
func spoil(s *Step) { s.Do, s.Call = DoCall, noSuchCall }
