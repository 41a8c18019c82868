package trace

import "golang.org/x/sys/unix"

// result returns the return value of a call.
func (r *registers) result() int64 { return int64(r.Rax) }

// put replaces the call at which the process stopped by call number nr. With -1 no call
// is made and result is returned.
func (r *registers) put(tid int, nr, result int64) unix.Errno {
	r.Orig_rax, r.Rax = uint64(nr), uint64(result)
	return r.set(tid)
}

// arguments replaces the first three arguments.
func (r *registers) arguments(a, b, c uint64) { r.Rdi, r.Rsi, r.Rdx = a, b, c }

// answer sets the return value of a call.
func (r *registers) answer(result int64) { r.Rax = uint64(result) }
