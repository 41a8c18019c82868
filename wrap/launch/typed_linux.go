package launch

import "golang.org/x/sys/unix"

// Typed tells of the signal that ended the command, where that is one of a terminal's
// keys, whether the terminal has sent it: what came with the command's end may not be
// forwarded any more. A command with the keys to itself is believed.
func (k *keys) Typed(sig unix.Signal) bool {
	if sig != unix.SIGINT && sig != unix.SIGQUIT {
		return false
	}
	for {
		si, ok := signalInfo(k.signals)
		if !ok {
			return k.terminal >= 0 || k.typed&(1<<sig) != 0
		}
		if si.code == siKernel {
			k.typed |= 1 << uint(si.signo)
		}
	}
}

// hasKeys tells whether a terminal may send this process signals: it has one (tty(4)),
// or that cannot be told.
func hasKeys() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err != unix.ENXIO
}

// DieOf ends this process by a signal, without a core file. It comes back where the
// caller had the signal ignored.
func DieOf(sig unix.Signal) {
	if Inherited().Ignored&(1<<(sig-1)) != 0 {
		return
	}
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // a limit of 0 is no matter to a core_pattern that is a pipe
	byDefault(uintptr(sig))
	set := [2]uint64{1 << (sig - 1)}
	sigmask(unix.SIG_UNBLOCK, &set, nil)
	unix.Tgkill(unix.Getpid(), unix.Gettid(), sig)
}
