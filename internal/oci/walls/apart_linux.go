package walls

import "golang.org/x/sys/unix"

// Apart is a capability that sbx-init has and the container's processes lack. A process that
// lacks a capability of another may not trace it or write to its memory (ptrace(2), "Ptrace
// access mode checking"), so that sbx-init is safe from its first instruction. This is the
// least powerful capability: it sets timers that wake the machine.
const (
	Apart = "CAP_WAKE_ALARM"
	apart = unix.CAP_WAKE_ALARM
)

// CanKeepApart reports whether the calling program can grant Apart.
func CanKeepApart() bool {
	has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, apart, 0, 0, 0)
	return err == nil && has == 1
}

// Join gives up Apart for the calling thread, which then executes the command.
func Join() error {
	_ = unix.Prctl(unix.PR_CAPBSET_DROP, apart, 0, 0, 0) // fails without CAP_SETPCAP; no_new_privs then makes the bit useless
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&h, &sets[0]); err != nil {
		return err
	}
	of, bit := &sets[apart/32], uint32(1)<<(apart%32)
	of.Effective, of.Permitted, of.Inheritable = of.Effective&^bit, of.Permitted&^bit, of.Inheritable&^bit // the kernel drops the ambient one too
	return unix.Capset(&h, &sets[0])
}
