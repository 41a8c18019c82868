package launch

import "syscall"

func (e Errno) Error() string { return syscall.Errno(e).Error() }

// Is lets errors.Is compare with a syscall.Errno.
func (e Errno) Is(target error) bool {
	t, ok := target.(syscall.Errno)
	return ok && t == syscall.Errno(e)
}

// Unwrap gives the errno itself.
func (e *StepError) Unwrap() error { return syscall.Errno(e.Errno) }
