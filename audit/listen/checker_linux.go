package listen

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// checker finds out whether an exec is certain to fail.
type checker struct {
	*paths
	programs *Programs
	known    map[fileID]bool // ELF files
	head     [headSize]byte
	user     int // the supervisor's effective uid plus one; 0 until first used
}

// attempt is one exec call that the listener decides.
type attempt struct {
	dirfd int32
	addr  uint64
	flags uint32
	path  []byte // as the caller passed the path, NUL-terminated
	name  string // the program's name for the ledger; valid until the next notification
	proc  bool   // path leads through a link of /proc, so it is not the path of the program itself

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
	return c.judgePath(x, x.dirfd, path, x.flags&unix.AT_SYMLINK_NOFOLLOW != 0, 0)
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

// judgePath is judge for the file at a path.
func (c *checker) judgePath(x *attempt, dirfd int32, path []byte, nofollow bool, depth int) unix.Errno {
	f := c.resolve(dirfd, path, nofollow)
	byProc := f.errno != 0 && !f.certain
	if byProc {
		f = c.throughProc(dirfd, path, nofollow)
		x.proc = x.proc || depth == 0
	}
	defer f.close()
	if f.errno == 0 {
		return c.judge(x, &f, depth)
	}
	if !f.certain {
		return 0
	}
	if f.errno == unix.ENOENT && path[0] == '/' && !byProc { // else the supervisor's /proc would lead elsewhere
		x.absent = text(path)
	}
	return f.errno
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
	if unix.Fstatfs(f.fd, &fs) != nil {
		return 0
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o111 == 0 || fs.Flags&unix.ST_NOEXEC != 0 || fs.Type == unix.PROC_SUPER_MAGIC {
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
	return c.judgePath(x, unix.AT_FDCWD, interp, false, depth+1)
}

// forbids reports whether a rule denies an otherwise executable file. The kernel would deny the
// exec too, unless the file is a loader: a loader is denied by this check alone.
func (c *checker) forbids(x *attempt, fd int, st *unix.Stat_t, depth int) bool {
	r, id := c.programs, node{st.Dev, st.Ino}
	switch {
	case r == nil:
		return false
	case r.loaders[id]:
		c.blame(x, ByLoader, fd, depth)
	case !r.limited || r.files[id] || !r.outside(fd):
		return false
	case r.denied[id]:
		c.blame(x, ByDeny, fd, depth)
	default:
		c.blame(x, ByAllow, fd, depth)
	}
	return true
}

// masked blames commands.deny if the file is the mask over a denied program, and
// commands.allow if it is a file in memory: under that rule none can be executed. All masks
// are the same inode, so the path decides.
func (c *checker) masked(x *attempt, fd int, st *unix.Stat_t, depth int) {
	switch r := c.programs; {
	case r == nil:
	case r.denied[node{st.Dev, st.Ino}] && slices.Contains(r.masks, c.nameOf(fd)):
		c.blame(x, ByDeny, fd, depth)
	case r.limited && st.Nlink == 0 && strings.HasPrefix(c.nameOf(fd), "/memfd:"):
		c.blame(x, ByAllow, fd, depth)
	}
}

// blame records why an exec is denied, with the called program as target or, at
// depth > 0, the interpreter that it needs.
func (c *checker) blame(x *attempt, why Cause, fd, depth int) {
	x.forbidden, x.cause, x.target = true, why, x.name
	if depth > 0 || x.proc || x.target == "" || x.target[0] != '/' {
		x.target = c.nameOf(fd)
	}
}

// header reads the first bytes of a regular file, as the kernel does to detect its format.
// It reopens the O_PATH descriptor fd, so the file cannot be exchanged.
func (c *checker) header(fd int) (h []byte, ok bool) {
	own, e := openFile(ownFD(fd))
	if e != 0 {
		return nil, false // it may be executable but not readable
	}
	defer unix.Close(own)
	n, err := unix.Pread(own, c.head[:], 0)
	if err != nil {
		return nil, false
	}
	return c.head[:n], true
}

// mayExecute reports whether the thread may execute a file that has an execute bit. It
// checks the supervisor's permissions, as both have the same user. Root may execute any.
func (c *checker) mayExecute(fd int) bool {
	if c.user == 0 {
		c.user = unix.Geteuid() + 1
	}
	return c.user == 1 || access(fd, unix.X_OK) != unix.EACCES || !c.final(unix.EACCES)
}
