package oci

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// canFollow reports whether this process may trace what a runtime starts in a container
// (capabilities(7); kernel.yama.ptrace_scope of 3 denies it to everyone).
func canFollow() bool {
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&h, &sets[0]); err != nil || sets[0].Effective&(1<<unix.CAP_SYS_PTRACE) == 0 {
		return false
	}
	scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope") // without Yama there is none
	return strings.TrimSpace(string(scope)) != "3"
}

// follow kills what a runtime starts in the container, unless it is sbx-init. pid is the runtime,
// or the process that it has made. The runtime executes sbx-init by its path, at which another
// container may have put a program of its own: it can rename the directories there through a
// descriptor that it was given. So the supervisor traces the runtime and its children up to the
// first execve(2) in the container, and looks at the program before that runs its first instruction
// (ptrace(2), PTRACE_EVENT_EXEC). follow returns when it traces.
func (s *supervisor) follow(pid int) error {
	traced := make(chan error, 1)
	var trace func()
	trace = func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine, and with it the tracing
		if unix.Gettid() == unix.Getpid() {
			go trace() // the first thread of a process stays
			return
		}
		outside := file{} // the container's first process has left it
		if pid != int(s.pid.Load()) {
			outside = of(pid, "ns/mnt")
		}
		e := seize(pid)
		started := pid == int(s.pid.Load()) && s.begun.Load() || of(pid, "exe") == s.program // by run, which does not wait for this
		if traced <- e; e == nil && !started {
			s.untilStarted(outside)
		}
	}
	go trace()
	return <-traced
}

// seize begins to trace all threads of a process: any of them may be the one that executes the next
// program. What they clone is traced as well.
func seize(pid int) error {
	const options = unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK
	if err := ptrace(unix.PTRACE_SEIZE, pid, options); err != nil {
		return err
	}
	for more := true; more; { // until none was cloned meanwhile by one that was not traced yet
		more = false
		threads, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
		if err != nil {
			return err
		}
		for _, t := range threads {
			tid, _ := strconv.Atoi(t.Name())
			err := ptrace(unix.PTRACE_SEIZE, tid, options)
			more = more || err == nil
			if err != nil && err != unix.EPERM && err != unix.ESRCH { // EPERM: it is traced already
				return err
			}
		}
	}
	return nil
}

// untilStarted lets what the calling thread traces run until one of them executes a program in the
// container, or all have ended. outside is the mount namespace of a runtime that has yet to enter it.
func (s *supervisor) untilStarted(outside file) {
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return
		case !ws.Stopped():
		case ws.TrapCause() == unix.PTRACE_EVENT_EXEC && of(pid, "ns/mnt") != outside:
			if !s.isInit(pid) {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
			return
		case ws>>16 == unix.PTRACE_EVENT_STOP && ws.StopSignal() != unix.SIGTRAP: // a stop of the whole process
			_ = ptrace(unix.PTRACE_LISTEN, pid, 0)
		case ws>>16 != 0:
			_ = ptrace(unix.PTRACE_CONT, pid, 0)
		default:
			_ = ptrace(unix.PTRACE_CONT, pid, uintptr(ws.StopSignal()))
		}
	}
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
