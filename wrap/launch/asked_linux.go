package launch

import "golang.org/x/sys/unix"

// Asked reads what signals have come and tells whether one of them asks to end.
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
