package listen

import (
	"bytes"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/seccomp"
	"sbx/wrap"
)

// atExecveCheck is AT_EXECVE_CHECK (Linux 6.14; older kernels answer EINVAL): execveat
// checks whether a file could be executed and executes nothing.
const atExecveCheck = 0x10000

// Execute is the reported action of an exec, Connect that of a connect to a path or by
// TCP, the only protocol of network.allow.
const (
	Execute = "execute"
	Connect = "connect"
)

// rule decides execve(path, …) or, if at is set, execveat(dirfd, path, …, flags).
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
	case audit.EndAll: // no answer: the caller waits until it is killed
		s.report(ByBudget, Execute, x.name)
		s.Exceeded()
	default:
		s.start(x.name)
	}
}

// start continues an exec that was charged.
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

// fails answers an exec that is certain to fail with errno e, and counts it as denied or
// as failed.
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

// attempt is one exec call that the listener decides.
type attempt struct {
	dirfd int32
	addr  uint64
	flags uint32
	path  []byte // as the caller passed it, NUL-terminated
	name  string // the program's name for the ledger; valid until the next notification

	forbidden bool // a rule of the spec denies the program; cause and target are set
	cause     Cause
	target    string

	absent string // an absolute path that does not exist: the program's or its interpreter's
}

// look returns the errno with which the exec is certain to fail, 0 if it may succeed.
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
		return 0 // the path cannot be read: the exec is charged as "(unseen)"
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

// noFile returns the errno for a path that did not resolve, 0 if that is uncertain.
func (x *attempt) noFile(f *resolved, path []byte) unix.Errno {
	if !f.certain {
		return 0
	}
	if f.errno == unix.ENOENT && path[0] == '/' {
		x.absent = text(path)
	}
	return f.errno
}

// lookFD is look for execveat with AT_EMPTY_PATH, which executes a descriptor.
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

// maxKnown is the most files that judgeContent remembers as ELF programs.
const maxKnown = 4096

// maxInterpreters is how many scripts may be each other's interpreters in a chain; at
// the next the kernel answers ELOOP (exec_binprm of Linux: depth > 5).
const maxInterpreters = 5

// judge returns the errno with which executing the resolved file is certain to fail, or
// 0. depth counts the interpreters so far.
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
		return 0 // links in /proc lead each process elsewhere
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

// judgeContent is judge for the file's format: ELF, a script with its interpreter, a
// format of binfmt_misc, or none (ENOEXEC).
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

// judgeScript judges a script's interpreter, each time anew: the interpreter may be
// created or removed while the script stays the same.
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
