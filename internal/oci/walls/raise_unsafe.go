package walls

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"sbx/landlock"
	"sbx/seccomp"
)

// Raise applies the limits, no_new_privs, the Landlock ruleset and the filter to the calling thread, which
// must be the one that then executes the command; exec keeps them all. supervisor is a socket
// to the process that answers the filter's notifications; without an answer Raise fails.
func (w *Walls) Raise(supervisor int) error {
	for _, l := range w.Limits {
		var now unix.Rlimit
		err := unix.Getrlimit(l.Resource, &now)
		if err == nil && now.Max > l.Most { // else the runtime has set it
			err = unix.Setrlimit(l.Resource, &unix.Rlimit{Cur: min(now.Cur, l.Most), Max: l.Most})
		}
		if err != nil {
			return fmt.Errorf("resource limit %d: %w", l.Resource, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if !w.Landlock.Empty() {
		if err := w.restrict(); err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
	}
	if len(w.Filter) == 0 {
		return nil
	}
	p := unix.SockFprog{Len: uint16(len(w.Filter) / 8), Filter: (*unix.SockFilter)(unsafe.Pointer(&w.Filter[0]))}
	flags := uintptr(0)
	if w.Listens {
		flags = seccomp.ListenerFlags
	}
	listener, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(seccomp.Pointer(&p)))
	runtime.KeepAlive(w)
	if e != 0 {
		return fmt.Errorf("seccomp: %w", e)
	}
	if !w.Listens {
		return nil
	}
	if err := Tell(supervisor, Listener, int(listener)); err != nil {
		return fmt.Errorf("the container's supervisor does not answer: %w", err)
	}
	return unix.Close(int(listener))
}

func (w *Walls) restrict() error {
	attr := w.Landlock.Attr()
	fd, _, e := unix.Syscall(landlock.CreateRuleset, uintptr(attr.Pointer()), landlock.AttrSize(w.ABI), 0)
	if e != 0 {
		return e
	}
	defer unix.Close(int(fd))
	for _, rule := range w.Landlock.Rules {
		file, err := unix.Open(rule.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err == unix.ENOENT || err == unix.EACCES || err == unix.ENOTDIR {
			continue // nothing to allow, or nothing that this user reaches
		}
		if err != nil {
			return fmt.Errorf("%s: %w", rule.Path, err)
		}
		beneath := rule.Attr(file)
		_, _, e := unix.Syscall6(landlock.AddRule, fd, landlock.PathBeneath, uintptr(beneath.Pointer()), 0, 0, 0)
		unix.Close(file)
		if e != 0 {
			return fmt.Errorf("%s: %w", rule.Path, e)
		}
	}
	if _, _, e := unix.Syscall(landlock.RestrictSelf, fd, 0, 0); e != 0 {
		return e
	}
	return nil
}
