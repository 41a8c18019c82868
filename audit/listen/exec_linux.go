package listen

import (
	"bytes"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/seccomp"
	"sbx/wrap"
)

// atExecveCheck asks whether a file could be executed and executes nothing
// (AT_EXECVE_CHECK, Linux 6.14; older kernels answer EINVAL).
const atExecveCheck = 0x10000

// Execute is the action of an exec, and Connect that of a connect by path or by TCP, the
// one protocol that network.allow has.
const (
	Execute = "execute"
	Connect = "connect"
)

// rule rules on execve(path, …) or execveat(dirfd, path, …, flags).
func (s *starter) rule(at bool) {
	if s.Ledger == nil && s.programs == nil {
		s.proceed()
		return
	}
	c := s.call
	x := attempt{dirfd: unix.AT_FDCWD, addr: c.Args[0]}
	if at {
		x = attempt{dirfd: int32(c.Args[0]), addr: c.Args[1], flags: uint32(c.Args[4])}
	}
	if seccomp.Absent(c) {
		s.fails(&x, unix.ENOSYS)
		return
	}
	if x.flags == wrap.BudgetFlags && s.Ledger != nil {
		s.inner.ask(c.Args[0], c.Args[2], c.Args[3])
		return
	}
	if x.flags&atExecveCheck != 0 {
		s.proceed()
		return
	}
	e := s.look(&x)
	if e != 0 {
		s.fails(&x, e)
		return
	}
	if s.Ledger == nil {
		s.proceed()
		return
	}
	if s.budgets.charge(x.name) != audit.Proceed {
		s.Ledger.Forbid()
		s.deny(ByInner, Execute, x.name)
		return
	}
	switch s.Ledger.Charge(x.name) {
	case audit.Refuse:
		s.budgets.giveBack(x.name)
		s.deny(ByBudget, Execute, x.name)
	case audit.EndAll: // and no answer: it waits for its end
		s.report(ByBudget, Execute, x.name)
		s.Exceeded()
	default:
		s.start(x.name)
	}
}

// start lets a program go that was charged.
func (s *starter) start(name string) {
	if s.Timeline != nil {
		s.Timeline.Expect(int(s.n.TID))
	}
	gone := s.proceed()
	if gone { // killed before the answer: it did not run
		s.Ledger.Return(name)
		s.budgets.giveBack(name)
	}
	switch {
	case s.Timeline == nil:
	case gone:
		s.Timeline.Forget()
	default:
		s.Timeline.Started(name)
	}
}

// fails answers an exec that comes to nothing, of itself or by a rule.
func (s *starter) fails(x *attempt, e unix.Errno) {
	switch {
	case x.forbidden:
		s.report(x.cause, Execute, x.target)
		if s.Ledger != nil {
			s.Ledger.Forbid()
		}
	case s.Ledger != nil:
		s.Ledger.Fail()
	}
	if x.absent != "" {
		s.report(OutOfView, Execute, x.absent)
	}
	s.budgets.failed()
	s.fail(e)
}

// attempt is one exec that is asked about.
type attempt struct {
	dirfd int32
	addr  uint64
	flags uint32
	path  []byte // as the caller has it, a NUL at the end
	name  string // what the ledger calls it; valid until the next notification

	forbidden bool // a rule about programs refuses it, for this cause, on this target
	cause     Cause
	target    string

	absent string // an absolute path at which nothing stands: the program's or its interpreter's
}

// look gives the errno that the kernel is certain to give, or 0.
func (c *checker) look(x *attempt) unix.Errno {
	if x.flags&^(unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW) != 0 {
		return unix.EINVAL
	}
	path, e := c.readInto(x.addr, c.path[:])
	x.path, x.name = path, "(unseen)"
	switch e {
	case 0:
	case unix.EFAULT, unix.ENAMETOOLONG:
		return e
	default:
		return 0 // not to be read: charged unseen
	}
	x.name = text(path)
	empty := len(path) == 1
	if empty && x.flags&unix.AT_EMPTY_PATH == 0 {
		return unix.ENOENT
	}
	if empty {
		return c.lookFD(x)
	}
	return c.lookPath(x)
}

// noFile is the errno of a path that leads to no file.
func (x *attempt) noFile(f *resolved, path []byte) unix.Errno {
	if !f.certain {
		return 0
	}
	if f.errno == unix.ENOENT && path[0] == '/' {
		x.absent = text(path)
	}
	return f.errno
}

// lookFD is look for a descriptor of the caller's.
func (c *checker) lookFD(x *attempt) unix.Errno {
	if x.dirfd == unix.AT_FDCWD {
		return unix.EACCES // the current directory
	}
	var f resolved
	f.fd, f.errno = c.openFD(x.dirfd)
	if f.errno == unix.ENOENT {
		return unix.EBADF // no such descriptor, or the thread is gone and gets no answer
	}
	if f.errno != 0 {
		return 0
	}
	defer f.close()
	x.name = c.nameOf(f.fd)
	return c.judge(x, &f, 0)
}

// lookPath is look for a path.
func (c *checker) lookPath(x *attempt) unix.Errno {
	f := c.resolve(x.dirfd, x.path, x.flags&unix.AT_SYMLINK_NOFOLLOW != 0)
	defer f.close()
	if f.errno != 0 {
		return x.noFile(&f, x.path)
	}
	return c.judge(x, &f, 0)
}

// maxKnown is how many programs are remembered to be some.
const maxKnown = 4096

// maxInterpreters is how many interpreters stand behind one another; at the
// next the kernel gives up with ELOOP (exec_binprm of Linux: depth > 5).
const maxInterpreters = 5

// judge tells whether the file that was found is bound to be refused.
func (c *checker) judge(x *attempt, f *resolved, depth int) unix.Errno {
	var st unix.Stat_t
	if unix.Fstat(f.fd, &st) != nil {
		return 0
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return unix.ELOOP // AT_SYMLINK_NOFOLLOW
	}
	var fs unix.Statfs_t
	if unix.Fstatfs(f.fd, &fs) != nil || fs.Type == unix.PROC_SUPER_MAGIC {
		return 0 // its links lead each process elsewhere
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o111 == 0 || fs.Flags&unix.ST_NOEXEC != 0 {
		c.masked(x, f.fd, &st, depth)
		return unix.EACCES
	}
	if !c.mayExecute(f.fd) || c.forbids(x, f.fd, &st, depth) {
		return unix.EACCES
	}
	return c.judgeContent(x, f.fd, &st, depth)
}

// judgeContent looks at what the file is: a program of some format, a script
// with its interpreter, or neither.
func (c *checker) judgeContent(x *attempt, fd int, st *unix.Stat_t, depth int) unix.Errno {
	id := fileID{st.Dev, st.Ino, st.Size, st.Ctim, st.Mtim}
	if c.known[id] {
		return 0
	}
	h, ok := c.header(fd)
	switch {
	case !ok:
		return 0
	case bytes.HasPrefix(h, []byte("\x7fELF")):
		if c.known == nil || len(c.known) >= maxKnown {
			c.known = map[fileID]bool{}
		}
		c.known[id] = true
		return 0
	case bytes.HasPrefix(h, []byte("#!")):
		if interp := interpreter(h); interp != nil {
			return c.judgeScript(x, interp, depth)
		}
		return unix.ENOEXEC
	case foreign(h):
		return 0
	}
	return unix.ENOEXEC
}

// judgeScript rules on a script's interpreter, which may come and go while the
// script stays the same.
func (c *checker) judgeScript(x *attempt, interp []byte, depth int) unix.Errno {
	if depth == 0 && x.path[0] != '/' && x.dirfd != unix.AT_FDCWD && c.closesOnExec(x.dirfd) {
		return unix.ENOENT // the interpreter could not open it (execveat(2), "BUGS")
	}
	if depth >= maxInterpreters {
		return unix.ELOOP
	}
	f := c.resolve(unix.AT_FDCWD, interp, false)
	defer f.close()
	if f.errno != 0 {
		return x.noFile(&f, interp)
	}
	return c.judge(x, &f, depth+1)
}
