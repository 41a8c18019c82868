package launch

import "syscall"

func (e Errno) Error() string { return syscall.Errno(e).Error() }

// Is lets errors.Is compare with a syscall.Errno.
func (e Errno) Is(target error) bool {
	t, ok := target.(syscall.Errno)
	return ok && t == syscall.Errno(e)
}

// Unwrap returns the errno.
func (e *StepError) Unwrap() error { return syscall.Errno(e.Errno) }

func stepError(name string, err error) *StepError {
	e, _ := err.(syscall.Errno)
	return &StepError{Program: "opening", Index: -1, Step: Step{Name: name}, Errno: Errno(e)}
}

// StepError is a launch step that failed. Nothing of the command has run, unless the step is
// one of a renewal.
type StepError struct {
	Program string // "opening", "setup", "command" or "renewal"
	Index   int
	Step    Step
	Errno   Errno
}

// Errno is a kernel's error number; Error returns the C library's text.
type Errno uintptr

// anyErrno as a Step's Pass stands for every errno.
const anyErrno Errno = 4095 // MAX_ERRNO, <linux/err.h>

func (e *StepError) Error() string {
	on := ""
	if e.Step.On != "" {
		on = " on " + e.Step.On
	}
	return e.Step.Name + on + ": " + e.Errno.Error()
}
