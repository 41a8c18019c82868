package trace

import "golang.org/x/sys/unix"

// result is what a call returned.
func (r *registers) result() int64 { return int64(r.Rax) }

// put makes the call under way, of which these are the registers, another one:
// -1 is none, and then result is what it returns.
func (r *registers) put(tid int, nr, result int64) unix.Errno {
	r.Orig_rax, r.Rax = uint64(nr), uint64(result)
	return r.set(tid)
}

// arguments replaces the first three arguments.
func (r *registers) arguments(a, b, c uint64) { r.Rdi, r.Rsi, r.Rdx = a, b, c }

// answer replaces what a call returned.
func (r *registers) answer(result int64) { r.Rax = uint64(result) }
