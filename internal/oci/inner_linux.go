package oci

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"sbx/internal/oci/front"
	"sbx/internal/sys"
	"sbx/spec"
)

// runtimes are the runtimes proper to look for if none is named, in this order.
var runtimes = []string{"runc", "crun"}

// searched are the directories where Inner looks in addition to PATH, which engines may not set.
const searched = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Inner returns the path of the runtime proper: the named one, or the first of runtimes that is
// found. It skips other names of this program.
func Inner(named string, environ []string) (string, error) {
	names := runtimes
	if named != "" {
		names = []string{named}
	}
	self, _ := os.Stat("/proc/self/exe")
	for _, name := range names {
		dirs := strings.Split(sys.Variable(environ, "PATH")+":"+searched, ":")
		if strings.ContainsRune(name, '/') {
			dirs = []string{""}
		}
		for _, dir := range dirs {
			path := name
			if dir != "" {
				path = dir + "/" + name
			}
			st, err := os.Stat(path)
			if err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 && path[0] == '/' && !os.SameFile(st, self) {
				return path, nil
			}
		}
	}
	return "", &spec.Problem{Do: "find the runtime that makes containers", Why: "there is no " + strings.Join(names, " and no "),
		Help: "install runc or crun, or name one by its absolute path: --sbx-runtime PATH or SBX_OCI_RUNTIME"}
}

// HandOn replaces this process with the runtime proper; it returns only on an error.
func HandOn(inner string, l *Line, environ []string) error {
	var err error
	if front.AsCalled(func() { err = sys.Become(inner, l.Words(), environ) }); err != nil {
		return err
	}
	return &spec.Problem{On: inner, Do: "start the runtime", Why: "it is not there any more, or not executable"}
}

// child is a child process that inherits the standard streams and descriptors of this process. It gets
// the signals of this process, unless that has a parent which waits for it (see front).
type child struct {
	pid, fd int // fd is its pidfd
	turn    sync.Mutex
	ended   bool // no signal may be sent any more
}

// begin starts a child, which the kernel kills if this process dies. files maps further
// descriptor numbers of the child to descriptors of this process.
func begin(path string, words, environ []string, files map[int]int) (*child, error) {
	var signals chan os.Signal
	if front.Report() == 0 {
		signals = make(chan os.Signal, 8)
		signal.Notify(signals, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM) // which nobody can block, see front.Signals
	}
	all := []uintptr{0, 1, 2}
	for at, fd := range files {
		for len(all) <= at {
			all = append(all, none)
		}
		all[at] = uintptr(fd)
	}
	runtime.LockOSThread() // for good: the child's death signal is tied to this thread
	c := &child{fd: -1}
	var err error
	front.AsCalled(func() {
		c.pid, err = syscall.ForkExec(path, words, &syscall.ProcAttr{Env: environ, Files: all, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, PidFD: &c.fd}})
	})
	if signals != nil {
		go func() {
			for s := range signals {
				c.signal(s.(syscall.Signal))
			}
		}()
	}
	return c, err
}

// signal sends a signal to the child, as long as it has not ended, except what a terminal sends to both.
func (c *child) signal(s syscall.Signal) {
	c.turn.Lock()
	defer c.turn.Unlock()
	terminals := s == unix.SIGINT || s == unix.SIGQUIT || s == unix.SIGWINCH
	if !c.ended && !(terminals && sys.IsTerminal(0)) {
		_ = unix.Kill(c.pid, s)
	}
}

// inherited returns fd if the caller passed it on, else none.
func inherited(fd int) uintptr {
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC != 0 {
		return none
	}
	return uintptr(fd)
}

// none is what package syscall takes for no descriptor.
const none = ^uintptr(0)

// wait waits for the child, and meanwhile hands on the signals of front.Signals, too.
func (c *child) wait() (ws unix.WaitStatus) {
	defer unix.Close(c.fd)
	if signals, err := front.Signals(); err == nil && c.fd >= 0 {
		defer unix.Close(signals)
		c.handOn(signals)
	}
	c.turn.Lock()
	c.ended = true
	c.turn.Unlock()
	for {
		if _, err := unix.Wait4(c.pid, &ws, 0, nil); err != unix.EINTR {
			return ws
		}
	}
}

// handOn hands on the signals of a signalfd until the child has ended.
func (c *child) handOn(signals int) {
	var came [128]byte // a struct signalfd_siginfo
	for pf := []unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLIN}, {Fd: int32(signals), Events: unix.POLLIN}}; pf[0].Revents == 0; {
		if _, err := unix.Poll(pf, -1); err != nil && err != unix.EINTR {
			return
		}
		if n, _ := unix.Read(signals, came[:]); n == len(came) {
			c.signal(syscall.Signal(binary.NativeEndian.Uint32(came[:])))
		}
	}
}

// statusOf returns an exit status as a shell does: 128+n for signal n.
func statusOf(ws unix.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// attend runs the runtime proper as a child and returns its exit status.
func attend(inner string, l *Line, environ []string) (status int, err error) {
	c, err := begin(inner, append([]string{inner}, l.Words()...), environ, nil)
	if err != nil {
		return 0, err
	}
	return statusOf(c.wait()), nil
}

// longestAnswer is how much a runtime may print. A state holds the container's annotations, of which
// config.json has up to 1 MiB, each byte as up to six.
const longestAnswer = 16 << 20

// ask runs the runtime proper and returns what it prints; nil if it fails.
func ask(inner string, l *Line, environ []string) ([]byte, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	var p *os.Process
	front.AsCalled(func() {
		p, err = os.StartProcess(inner, append([]string{inner}, l.Words()...), &os.ProcAttr{Env: environ, Files: []*os.File{null, w, null}})
	})
	w.Close()
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, longestAnswer+1))
	if len(out) > longestAnswer {
		_ = p.Kill()
		err = errors.New("it prints more than 16 MiB")
	}
	switch state, e := p.Wait(); {
	case err != nil || e != nil:
		return nil, errors.Join(err, e)
	case !state.Success():
		return nil, nil
	}
	return out, nil
}
