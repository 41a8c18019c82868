package oci

import (
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"sbx/internal/sys"
	"sbx/spec"
)

// Runtimes are the runtimes proper that are looked for where none is named.
var runtimes = []string{"runc", "crun"}

// searched is where they are looked for besides PATH, which engines may leave out.
const searched = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Inner is the path of the runtime proper: one that is named, or the first that is there.
// This program by another name is none.
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

// HandOn becomes the runtime proper. It comes back only with an error.
func HandOn(inner string, l *Line, environ []string) error {
	if err := sys.Become(inner, l.Words(), environ); err != nil {
		return err
	}
	return &spec.Problem{On: inner, Do: "start the runtime", Why: "it is not there any more, or not executable"}
}

// attend runs the runtime proper beside this program: its streams, every descriptor and
// the signals that this one gets are the runtime's.
func attend(inner string, l *Line, environ []string) (status int, err error) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2)
	pid, err := syscall.ForkExec(inner, append([]string{inner}, l.Words()...), &syscall.ProcAttr{Env: environ, Files: []uintptr{0, 1, 2}})
	if err != nil {
		return 0, err
	}
	done := make(chan struct{})
	go func() {
		terminal := sys.IsTerminal(0) // whose signals the runtime gets itself
		for {
			select {
			case s := <-signals:
				if s := s.(syscall.Signal); !terminal || s != unix.SIGINT && s != unix.SIGQUIT {
					_ = unix.Kill(pid, s)
				}
			case <-done:
				return
			}
		}
	}()
	defer close(done)
	var ws unix.WaitStatus
	for {
		if _, err := unix.Wait4(pid, &ws, 0, nil); err != unix.EINTR {
			break
		}
	}
	if ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return ws.ExitStatus(), nil
}

// ask runs the runtime proper for what it prints.
func ask(inner string, l *Line, environ []string) (string, bool) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", false
	}
	defer r.Close()
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		return "", false
	}
	defer null.Close()
	p, err := os.StartProcess(inner, append([]string{inner}, l.Words()...), &os.ProcAttr{Env: environ, Files: []*os.File{null, w, null}})
	w.Close()
	if err != nil {
		return "", false
	}
	out := make([]byte, 0, 4096)
	buf := make([]byte, 4096)
	for len(out) < 1<<20 {
		n, err := r.Read(buf)
		out = append(out, buf[:n]...)
		if err != nil {
			break
		}
	}
	state, err := p.Wait()
	return string(out), err == nil && state.Success()
}
