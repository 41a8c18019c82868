package launch

import "golang.org/x/sys/unix"

// keys are the signals that come to the supervisor, of a terminal above all, and are
// the command's.
type keys struct {
	*child
	signals  int         // where Catch's are read; -1 for none
	early    int         // how many of them are from before the command could be executed
	typed    uint64      // the signals that the terminal has sent, by their numbers
	terminal int         // whose foreground is to be taken back at the end; -1 for none
	stale    bool        // what stops came before the next SIGCONT are those of a stop that is over
	by       unix.Signal // what deliver ended the command for; 0 for nothing
}

// siKernel is si_code for a signal that the kernel itself sent, a terminal's
// above all (sigaction(2)).
const siKernel = 0x80

// forwarded are the signals that a supervisor forwards, bit n-1 is signal n: all
// but KILL, STOP, CHLD, the synchronous SEGV BUS FPE ILL TRAP SYS ABRT, which the
// Go runtime needs, URG, with which it signals itself, and Interrupt.
const forwarded = 0xffffffffbfba7a07

// forward passes on what came, but for what the command got by itself: a
// terminal sends its signals to the whole foreground group. An early one is passed on,
// too: where the command's process was there by then, it had no handler yet.
func (k *keys) forward(h *Hooks) {
	for {
		si, ok := signalInfo(k.signals)
		if !ok {
			return
		}
		early := k.early > 0
		if early {
			k.early--
		}
		sig := unix.Signal(si.signo)
		if sig == unix.SIGCONT {
			k.stale = false
		}
		if si.code == siKernel {
			k.typed |= 1 << sig
			switch sig {
			case unix.SIGINT, unix.SIGQUIT, unix.SIGWINCH:
				if !early {
					continue
				}
			case unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
				if k.stale || sig != unix.SIGTSTP && !givenUp() {
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
