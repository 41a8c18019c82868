package launch

import "golang.org/x/sys/unix"

// keys are the signals that come to the supervisor, of a terminal above all, and are
// the command's.
type signalForwarder struct {
	*child
	signals     int         // where Catch's are read; -1 for none
	beforeExec  int         // how many of them are from before the command could be executed
	typed       uint64      // the signals that the terminal has sent, by their numbers
	terminal    int         // whose foreground is to be taken back at the end; -1 for none
	ignoreStops bool        // what stops came before the next SIGCONT are those of a stop that is over
	killedFor   unix.Signal // what deliver ended the command for; 0 for nothing
}

// forward passes on what came, but for what the command got by itself: a
// terminal sends its signals to the whole foreground group. An early one is passed on,
// too: where the command's process was there by then, it had no handler yet.
func (k *signalForwarder) forward(h *Hooks) {
	for {
		si, ok := signalInfo(k.signals)
		if !ok {
			return
		}
		early := k.beforeExec > 0
		if early {
			k.beforeExec--
		}
		sig := unix.Signal(si.signo)
		if sig == unix.SIGCONT {
			k.ignoreStops = false
		}
		if si.code == siKernel {
			k.typed |= 1 << sig
			switch sig {
			case unix.SIGINT, unix.SIGQUIT, unix.SIGWINCH:
				if !early {
					continue
				}
			case unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
				if k.ignoreStops || sig != unix.SIGTSTP && !foregroundOutside() {
					continue
				}
				if early {
					unix.PidfdSendSignal(k.target, sig, nil, 0)
				}
				k.awaitDelivery(sig)
				if h.Stop != nil {
					h.Stop()
				}
				k.stopSelf(sig)
				continue
			}
		}
		if h.Below == 0 || !k.deliver(sig, h.Below) {
			unix.PidfdSendSignal(k.target, sig, nil, 0)
		}
	}
}

// Asked reads what signals have come and reports whether one of them asks to end.
func Asked(signals int) bool {
	asked := false
	for {
		si, ok := signalInfo(signals)
		if !ok {
			return asked
		}
		switch unix.Signal(si.signo) {
		case unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT:
			asked = true
		}
	}
}

// Typed tells of the signal that ended the command, where that is one of a terminal's
// keys, whether the terminal has sent it: what came with the command's end may not be
// forwarded any more. A command with the keys to itself is believed.
func (k *signalForwarder) Typed(sig unix.Signal) bool {
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

// hasKeys reports whether a terminal may send this process signals: it has one (tty(4)),
// or that cannot be told.
func hasKeys() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err != unix.ENXIO
}
