package oci

import (
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/internal/oci/front"
)

// begun is the running runtime proper that creates a container. Under a spec it is started before
// the spec is evaluated, to save time: its config.json is a symlink to a pipe, and the runtime
// blocks there until wait writes the edited copy. Until then it has created nothing.
type begun struct {
	*child
	config int // the pipe's write end; -1 for none
}

// begin starts the runtime with files (see begin) and with the descriptors that the line hands on.
func (m *making) begin(l *Line, files map[int]int) error {
	for _, fd := range m.inherited {
		if _, taken := files[fd]; !taken && fd < l.Kept(m.Environ) {
			files[fd] = fd
		}
	}
	line := m.telling(l)
	c, err := begin(m.Inner, append([]string{m.Inner}, line.Words()...), m.Environ, files)
	if err == nil {
		m.begun = &begun{c, -1}
	}
	return err
}

// ahead starts the runtime before its config.json is known.
func (m *making) ahead(supervised bool) (err error) {
	if err := m.shelf.begin(); err != nil {
		return err
	}
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	defer unix.Close(p[0])
	_ = unix.SetNonblock(p[1], true) // see send
	line, files := m.Line.With(m.shelf.dir, "bundle", "b", "config", "f"), map[int]int{configAt: p[0]}
	if m.supervisor = nil; supervised {
		conn := -1
		if m.supervisor, err = newSupervisor(m.shelf.dir); err == nil {
			conn, err = comeTo(m.shelf.dir)
		}
		if err != nil {
			unix.Close(p[1])
			return err
		}
		defer unix.Close(conn)
		at := line.Kept(m.Environ)
		files[at] = conn
		line = line.With(strconv.Itoa(at-2), "preserve-fds")
	}
	if err = os.Symlink("/proc/self/fd/"+strconv.Itoa(configAt), m.shelf.dir+"/"+configFile); err == nil {
		err = m.begin(&line, files)
	}
	if err != nil {
		unix.Close(p[1])
		return err
	}
	m.begun.config = p[1]
	return nil
}

// configAt is the number of the pipe's read end in the runtime. The descriptor closes when the
// runtime exits.
const configAt = front.AboveAll + 1

// wait sends the runtime its config.json and waits for it to exit.
func (m *making) wait() (ended unix.WaitStatus, err error) {
	if m.begun == nil { // no spec applies: run the engine's own command line
		if err := m.begin(&m.Line, map[int]int{}); err != nil {
			return 0, err
		}
	}
	if m.begun.config >= 0 {
		m.begun.send(m.config)
	}
	defer func() { m.begun = nil }()
	return m.begun.wait(), nil
}

// send writes config.json to the pipe. A runtime that opens its config.json only now finds the file that
// has replaced the symlink, and never reads the pipe: so send ends with the runtime, too.
func (b *begun) send(config []byte) {
	defer unix.Close(b.config)
	for pf := []unix.PollFd{{Fd: int32(b.config), Events: unix.POLLOUT}, {Fd: int32(b.fd), Events: unix.POLLIN}}; len(config) > 0; {
		if _, err := unix.Poll(pf, -1); err == unix.EINTR {
			continue
		}
		n, err := unix.Write(b.config, config)
		if err != nil && err != unix.EINTR && err != unix.EAGAIN || pf[1].Revents != 0 {
			return
		}
		config = config[max(n, 0):]
	}
}

// cancel kills a runtime that waits for its config.json.
func (m *making) cancel() {
	if m.begun != nil {
		_ = unix.Kill(m.begun.pid, unix.SIGKILL)
		unix.Close(m.begun.config)
		m.begun.wait()
		m.begun = nil
	}
}

// foreground reports whether the runtime waits for the container's end (run without --detach).
func (c *Call) foreground() bool {
	return c.Verb == "run" && !slices.ContainsFunc(c.Flags, func(f Flag) bool { return (f.Name == "detach" || f.Name == "d") && f.Value != "false" })
}
