package walls

import "golang.org/x/sys/unix"

// Apart is a capability that sbx-init has and the container's processes do not: who lacks
// one of another's may not trace it, nor write to its memory (ptrace(2), "Ptrace access
// mode checking"), from its first instruction. To set clocks that wake the machine is the
// least of them.
const (
	Apart = "CAP_WAKE_ALARM"
	apart = unix.CAP_WAKE_ALARM
)

// CanKeepApart tells whether the calling program can give it.
func CanKeepApart() bool {
	has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, apart, 0, 0, 0)
	return err == nil && has == 1
}

// Join gives it up, for the thread that becomes the command.
func Join() error {
	_ = unix.Prctl(unix.PR_CAPBSET_DROP, apart, 0, 0, 0) // without CAP_SETPCAP it stays there, where no_new_privs keeps it of no use
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&h, &sets[0]); err != nil {
		return err
	}
	of, bit := &sets[apart/32], uint32(1)<<(apart%32)
	of.Effective, of.Permitted, of.Inheritable = of.Effective&^bit, of.Permitted&^bit, of.Inheritable&^bit // and with them the ambient one
	return unix.Capset(&h, &sets[0])
}
