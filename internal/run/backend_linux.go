package run

import (
	"bytes"
	"errors"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
	"sbx/wrap/outer"
)

// askTimeout is the time limit for a tool that is asked for its version.
const askTimeout = 20 * time.Second

// maxAnswer is how many bytes of a tool's output are read.
const maxAnswer = 64 << 10

// askTool runs a tool and returns what it prints.
func askTool(path string, args, env []string) (string, error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return "", err
	}
	defer unix.Close(ends[0])
	pid, err := spawn(path, append([]string{path}, args...), env, -1, ends[1])
	unix.Close(ends[1])
	if err != nil {
		return "", err
	}
	out, late := readUntil(ends[0], time.Now().Add(askTimeout))
	if late {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(pid, &status, 0, nil); err != unix.EINTR {
			break
		}
	}
	said := strings.TrimSpace(string(out))
	switch {
	case late:
		return "", errors.New("no answer within " + askTimeout.String())
	case !status.Exited() || status.ExitStatus() != 0:
		line, _, _ := strings.Cut(said, "\n")
		return "", errors.New(spec.Shown(line))
	}
	return said, nil
}

// spawn starts a program in a session of its own, with in as stdin and out as stdout; -1
// is /dev/null.
func spawn(path string, argv, env []string, in, out int) (pid int, err error) {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(null)
	files := []uintptr{uintptr(in), uintptr(out), uintptr(out)}
	for i := range files {
		if int(files[i]) < 0 {
			files[i] = uintptr(null)
		}
	}
	return syscall.ForkExec(path, argv, &syscall.ProcAttr{Env: outer.ToolEnviron(env), Files: files, Sys: &syscall.SysProcAttr{Setsid: true}})
}

// droppedLimits returns the limits that Docker's engine accepts and does not enforce: a
// rootless engine without control groups drops them. The output of docker may have
// warnings in addition.
func (b *backend) droppedLimits(docker string) (drops []spec.Field, err error) {
	l := &b.Resolved.Spec.Limits.Value
	if !l.Memory.Set && !l.CPUs.Set && !l.PIDs.Set {
		return nil, nil
	}
	said, err := askTool(docker, []string{"info", "--format", "limits: {{.CgroupDriver}} {{.MemoryLimit}} {{.CPUCfsQuota}} {{.PidsLimit}}"}, b.Inputs.Environ)
	if err != nil {
		return nil, err
	}
	_, said, _ = strings.Cut(said, "limits: ")
	said, _, _ = strings.Cut(said, "\n")
	words := append(strings.Fields(said), "", "", "", "")
	for i, f := range wrap.GroupLimits() {
		if words[0] == "none" || words[i+1] != "true" {
			drops = append(drops, f)
		}
	}
	return drops, nil
}

// readUntil reads a pipe to its end, or until the time is over.
func readUntil(fd int, until time.Time) (out []byte, late bool) {
	var buf [4096]byte
	for len(out) < maxAnswer {
		left := time.Until(until)
		if left <= 0 {
			return out, true
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		if err == unix.EINTR || n == 0 && err == nil {
			continue
		}
		if n, err = sys.ReadSome(fd, buf[:]); n == 0 || err != nil {
			return out, false
		}
		out = append(out, buf[:n]...)
	}
	return out, false
}

// bwrapFiles makes the files in memory that bwrap inherits: one in which it reports how
// the command ended, one from which it reads the system call filter.
func (b *backend) bwrapFiles() (status, filter int, err error) {
	for _, fd := range []*int{&status, &filter} {
		if *fd, err = unix.MemfdCreate("sbx-bwrap", 0); err != nil {
			return 0, 0, &spec.Problem{On: "--backend bwrap", Do: "make a file in memory for it", Why: err.Error()}
		}
		b.handed = append(b.handed, *fd)
	}
	b.status = status
	return status, filter, nil
}

// fillFile writes text to a file in memory and seeks back to its start.
func fillFile(fd int, text []byte) error {
	if fd <= 0 {
		return nil
	}
	err := sys.WriteAll(fd, text)
	if err == nil {
		_, err = unix.Seek(fd, 0, unix.SEEK_SET)
	}
	if err != nil {
		return &spec.Problem{On: "a file in memory", Do: "write what the tool reads", Why: err.Error()}
	}
	return nil
}

// neverStarted reports, from bwrap's status file, whether bwrap ended before it started
// the command. Its exit status does not show that: commands use the same one.
func (b *backend) neverStarted(o *outcome) bool {
	if b.status <= 0 || o.Signal != 0 || o.reason != "" || o.timedOut {
		return false
	}
	var buf [4096]byte
	n, err := unix.Pread(b.status, buf[:], 0)
	return err == nil && !bytes.Contains(buf[:n], []byte(`"exit-code"`))
}

// remover is a process that outlives sbx and removes a container when sbx is gone: the
// engine keeps a container running after its client has ended.
type remover struct {
	lifeline int // a pipe that closes when sbx ends
	argv     []string
}

// RemoverVerb is the name under which the program starts itself as the remover.
const RemoverVerb = " remove"

// startRemover starts the remover, before the container exists.
func (b *backend) startRemover() error {
	fail := func(err error) error {
		return &spec.Problem{On: "--backend " + b.Backend, Do: "make sure that the container is removed", Why: err.Error()}
	}
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return fail(err)
	}
	defer unix.Close(ends[0])
	argv := append([]string{b.tool.Path}, b.tool.Options...)
	argv = append(argv, "rm", "--force", "sbx-"+b.record.ID)
	pid, err := spawn("/proc/self/exe", append([]string{"sbx", RemoverVerb}, argv...), b.Inputs.Environ, ends[0], -1)
	if err != nil {
		unix.Close(ends[1])
		return fail(err)
	}
	launch.Spare(pid)
	b.remover = &remover{lifeline: ends[1], argv: argv}
	return nil
}

// removeContainer removes the container of a command that sbx ended, or whose client was killed or
// signalled; the engine has removed any other. podman has no engine: the process that cleans up after its
// container belongs to the tree that sbx has just ended. The remover goes on where this fails.
func (b *backend) removeContainer(o *outcome) {
	if b.remover == nil {
		return
	}
	defer unix.Close(b.remover.lifeline)
	engine := b.Backend != "podman"
	itself := engine && o.Known && o.Signal == 0 && !o.Signalled && o.reason == "" && !o.timedOut
	if itself || removed(b.remover.argv, b.Inputs.Environ, engine) {
		_ = sys.WriteAll(b.remover.lifeline, []byte{0})
	}
}

// removed executes the tool that removes the container, and reports whether none is left. An engine
// must name it: that there is none is no answer, since it creates the container of a client that is
// gone, if that had asked before.
func removed(argv, environ []string, engine bool) bool {
	said, err := askTool(argv[0], argv[1:], environ)
	return err == nil && (!engine || said == argv[len(argv)-1])
}

// removals are the pauses before each time that the remover tries: an engine under load does not
// answer in time, or removes the container already and fails at it.
var removals = [...]time.Duration{0, time.Second, 3 * time.Second, 10 * time.Second, 30 * time.Second}

// Remover removes a container when stdin ends, unless a byte came before: it executes the tool
// argv until that says that it has.
func Remover(argv, environ []string) {
	var buf [1]byte
	if n, err := sys.ReadSome(0, buf[:]); n > 0 || err != nil || len(argv) == 0 {
		return
	}
	for _, pause := range removals {
		time.Sleep(pause)
		if removed(argv, environ, true) {
			return
		}
	}
}
