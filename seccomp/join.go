package seccomp

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Join makes one program of several: a call that one of them would let run goes on to the next, and
// the first other verdict wins. The kernel would decide the same with a chain of filters, except
// for the choice among several denials. A call that one of them would only log runs unlogged.
func Join(progs ...[]unix.SockFilter) ([]unix.SockFilter, error) {
	var all []unix.SockFilter
	for i, p := range progs {
		for at, in := range p {
			goesOn := in.Code == opRet && (in.K == unix.SECCOMP_RET_ALLOW || in.K == unix.SECCOMP_RET_LOG)
			if goesOn && i < len(progs)-1 {
				in = unix.SockFilter{Code: opJump, K: uint32(len(p) - at - 1)}
			}
			all = append(all, in)
		}
	}
	if len(all) > maxProgram {
		return nil, errors.New("the lists of system calls are too long together: the kernel takes 4096 instructions")
	}
	return all, nil
}
