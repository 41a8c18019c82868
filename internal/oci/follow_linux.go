package oci

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/wrap/host"
)

// canFollow reports whether this process may trace what a runtime starts in a container
// (capabilities(7); kernel.yama.ptrace_scope of 3 denies it to everyone).
func canFollow() bool {
	scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope") // without Yama there is none
	return host.EffectiveCaps()&(1<<unix.CAP_SYS_PTRACE) != 0 && strings.TrimSpace(string(scope)) != "3"
}

// follow kills what a runtime starts in the container, unless it is sbx-init. pid is the runtime,
// or the process that it has made. The runtime executes sbx-init by its path, at which another
// container may have put a program of its own: it can rename the directories there through a
// descriptor that it was given. So the supervisor traces the runtime and its children (ptrace(2)) up
// to the second execve(2) in the container. At the first the program must be sbx-init; but this may
// be the interpreter of a script, with arguments of the script's. So at the second, which starts the
// command, the supervisor must have its listener. follow returns when it traces.
func (s *supervisor) follow(pid int) error {
	traced := make(chan error)
	go apart(func() {
		f, err := s.trace(pid)
		traced <- err
		f.untilStarted()
	})
	return <-traced
}

// trace begins to trace pid by the calling thread, which has to call untilStarted then.
func (s *supervisor) trace(pid int) (f *follower, err error) {
	f = &follower{s: s, tracees: map[int]bool{}}
	first := int(s.pid.Load())
	if pid != first { // the first process has entered the container
		f.outside = of(pid, "ns/mnt")
	}
	if err = f.seize(pid); err == nil && f.outside == of(first, "ns/mnt") { // nothing shows when it enters
		err = unix.EPERM
	}
	f.over = err != nil || pid == first && (of(pid, "exe") == s.program || s.begun.Load())
	return f, err
}

// follower traces a runtime. All its calls are of one thread.
type follower struct {
	s       *supervisor
	outside file // the mount namespace of a runtime that has yet to enter the container's
	tracees map[int]bool
	init    int // sbx-init, once it runs
	over    bool
}

// seize begins to trace all threads of a process: any of them may be the one that executes the next
// program. What they clone is traced as well, and all is killed if this process ends.
func (f *follower) seize(pid int) error {
	const options = unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_EXITKILL
	for more := true; more; { // until none was cloned meanwhile by one that was not traced yet
		more = false
		threads, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
		if err != nil {
			return err
		}
		for _, t := range threads {
			tid, _ := strconv.Atoi(t.Name())
			err := ptrace(unix.PTRACE_SEIZE, tid, options)
			if err == nil {
				f.tracees[tid], more = true, true
			} else if err != unix.ESRCH && !f.traces(tid) {
				return err
			}
		}
	}
	return nil
}

// traces reports whether the calling thread traces tid.
func (f *follower) traces(tid int) bool {
	return read.StatusLine(read.Status(strconv.Itoa(tid)), "TracerPid:") == strconv.Itoa(unix.Gettid())
}

// untilStarted lets the tracees run until one starts the command in the container, or all have ended, and
// releases them. It kills a process that executes something else there.
func (f *follower) untilStarted() {
	defer f.release()
	for !f.over {
		pid, ws, err := f.next()
		switch {
		case err != nil:
			return
		case !ws.Stopped():
		case ws.TrapCause() == unix.PTRACE_EVENT_EXEC && of(pid, "ns/mnt") != f.outside:
			_, walled := f.s.walled.LoadAndDelete(pid)
			if f.init == 0 && f.s.isInit(pid) {
				f.init = pid
				_ = ptrace(unix.PTRACE_CONT, pid, 0)
				continue
			}
			if f.init != pid || !walled {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
			_ = ptrace(unix.PTRACE_DETACH, pid, 0)
			return
		case ws>>16 == unix.PTRACE_EVENT_STOP && ws.StopSignal() != unix.SIGTRAP: // a stop of the whole process
			_ = ptrace(unix.PTRACE_LISTEN, pid, 0)
		default:
			_ = ptrace(unix.PTRACE_CONT, pid, signalOf(ws))
		}
	}
}

// release stops tracing: it interrupts all tracees, and detaches each when it has stopped. It ends
// when none is left, so that also those are detached that were cloned meanwhile.
func (f *follower) release() {
	for tid := range f.tracees {
		_ = ptrace(unix.PTRACE_INTERRUPT, tid, 0)
	}
	for {
		pid, ws, err := f.next()
		if err != nil {
			return
		}
		if ws.Stopped() {
			_ = ptrace(unix.PTRACE_DETACH, pid, signalOf(ws))
			delete(f.tracees, pid)
		}
	}
}

// next waits for a tracee's next stop or end; ECHILD if there is none.
func (f *follower) next() (tid int, ws unix.WaitStatus, err error) {
	for {
		if tid, err = unix.Wait4(-1, &ws, unix.WALL|unix.WNOTHREAD, nil); err != unix.EINTR {
			break
		}
	}
	if err == nil {
		f.tracees[tid] = true
	}
	if !ws.Stopped() {
		delete(f.tracees, tid)
	}
	return tid, ws, err
}

// signalOf returns the signal that a stopped tracee is about to get; 0 if the stop is an event.
func signalOf(ws unix.WaitStatus) uintptr {
	if ws>>16 != 0 {
		return 0
	}
	return uintptr(ws.StopSignal())
}

// ptrace makes a request about pid that takes a number.
func ptrace(request, pid int, data uintptr) error {
	if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(pid), 0, data, 0, 0); e != 0 {
		return e
	}
	return nil
}

// isInit reports whether a process is sbx-init, in the mount namespace of the container's first process
// if that is known.
func (s *supervisor) isInit(pid int) bool {
	first := int(s.pid.Load())
	return of(pid, "exe") == s.program && (first == 0 || of(pid, "ns/mnt") == of(first, "ns/mnt"))
}

// file identifies a file.
type file struct{ dev, inode uint64 }

// of returns the file that a link of /proc/PID leads to; zero for none.
func of(pid int, link string) file { return fileAt("/proc/" + strconv.Itoa(pid) + "/" + link) }

func fileAt(path string) file {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return file{}
	}
	return file{st.Dev, st.Ino}
}

func fileOf(fd int) file {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return file{}
	}
	return file{st.Dev, st.Ino}
}
