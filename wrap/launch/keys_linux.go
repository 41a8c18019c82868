package launch

import "golang.org/x/sys/unix"

// signalForwarder passes the signals that the supervisor receives, mostly from a terminal, to the
// command.
type signalForwarder struct {
	*child
	signals     int         // Catch's descriptor; -1 for none
	beforeExec  int         // how many unread signals came before the command could be executed
	typed       uint64      // the signals that the terminal has sent, a bit each
	terminal    int         // the terminal whose foreground is taken back at the end; -1 for none
	signalled   bool        // see Exit
	ignoreStops bool        // stop signals that come before the next SIGCONT belong to a stop that is over
	killedFor   unix.Signal // the signal that deliver replaced by SIGKILL; 0 for none
}

// forward passes on the signals that came, except those that the command got itself: a
// terminal sends its signals to the whole foreground group. Signals that came before the
// exec are passed on too: if the command's process existed then, it had no handler yet.
func (k *signalForwarder) forward(h *Hooks) {
	for {
		si, ok := signalInfo(k.signals)
		if !ok {
			return
		}
		k.signalled = true
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

// Asked reads the signals that have come and reports whether one of them asks the program to
// end.
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

// Typed reports whether the signal that ended the command was sent by a key of the
// terminal. It reads signals that came with the command's end and may not have been
// forwarded. If the command had the terminal to itself, the answer is yes.
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

// hasKeys reports whether a terminal may send signals to this process: it has one (tty(4)),
// or that is unknown.
func hasKeys() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err != unix.ENXIO
}
