package launch

import (
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"sbx/seccomp"
)

// errGone is the end of the child without a report.
var errGone = &StepError{Program: "setup", Index: -1, Step: Step{Name: "launch"}, Errno: Errno(unix.ECHILD)}

// receive waits for the child's next report, or for its end. The listener's
// first notification is the exec of the command itself, which nobody counts.
func (pr *Process) receive() (*report, error) {
	for {
		pf := []unix.PollFd{{Fd: int32(pr.sock), Events: unix.POLLIN}, {Fd: int32(pr.pidfd), Events: unix.POLLIN},
			{Fd: -1, Events: unix.POLLIN}}
		if !pr.first {
			pf[2].Fd = int32(pr.listener)
		}
		pf = polled(pf, pr.attended)
		if _, err := unix.Poll(pf, -1); err != nil && err != unix.EINTR {
			return nil, stepError("poll", err)
		}
		if pf[0].Revents != 0 {
			rep, err := readReport(pr.sock)
			if rep != nil && rep.kind == reportStopped { // it goes on, or Supervise stays stopped with it
				continue
			}
			return rep, err
		}
		if pf[1].Revents != 0 {
			return nil, errGone
		}
		serve(pr.attended, pf[3:])
		var n seccomp.Notification
		if pf[2].Revents&unix.POLLIN != 0 && seccomp.Receive(pr.listener, &n) == 0 {
			pr.first = true // what comes after it waits for who counts
			seccomp.Continue(pr.listener, n.ID)
		}
	}
}

// readReport reads one report off a socket; it does not wait. A child that ended before it read its
// word leaves ECONNRESET in front of what it reported; reading takes that off
// (unix_release_sock and sock_error of Linux), so the next one is the report.
func readReport(sock int) (*report, error) {
	rep := new(report)
	recv := func() (uintptr, syscall.Errno) {
		n, _, e := syscall.Syscall6(unix.SYS_RECVFROM, uintptr(sock), uintptr(unsafe.Pointer(rep)), reportSize,
			unix.MSG_DONTWAIT, 0, 0)
		return n, e
	}
	n, e := recv()
	if e == syscall.ECONNRESET {
		n, e = recv()
	}
	if e != 0 {
		return nil, stepError("recv", e)
	}
	if n != reportSize {
		return nil, errGone
	}
	return rep, nil
}

// sigmask changes the thread's signal mask, raw: the runtime's own notion of it
// stays as it is. how is SIG_BLOCK, SIG_UNBLOCK or SIG_SETMASK.
func sigmask(how int, set, old *[2]uint64) {
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, uintptr(how), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), 8, 0, 0)
}

// letGo drops the pages of a read-only file mapping: madvise(2), MADV_DONTNEED,
// "subsequent accesses … will result in … repopulating the memory contents from
// the up-to-date contents of the underlying mapped file".
func letGo(at, n uintptr) { _, _, _ = syscall.Syscall(unix.SYS_MADVISE, at, n, unix.MADV_DONTNEED) }

// Args is the program's arguments with its name in front, without package os,
// whose start costs every sandbox fifty microseconds.
func Args() []string {
	if entryWord(0) != 1 {
		return arguments()
	}
	argc, argv := began()
	args := texts(argv, argc)
	for i := range args {
		args[i] = strings.Clone(args[i]) // Forget writes over them
	}
	return args
}

// Environ is the environment as the caller gave it, of a name that is there twice the
// first, as os.Environ has it.
func Environ() []string {
	if entryWord(0) != 1 {
		return unix.Environ()
	}
	argc, argv := began()
	envp, n := unsafe.Add(argv, 8*(argc+1)), 0
	for *(*unsafe.Pointer)(unsafe.Add(envp, 8*n)) != nil {
		n++
	}
	seen := make(map[string]bool, n)
	return slices.DeleteFunc(texts(envp, n), func(kv string) bool {
		name, _, ok := strings.Cut(kv, "=")
		twice := ok && seen[name]
		seen[name] = true
		return twice || kv == ""
	})
}

// began is where the arguments stand on the stack the process began with, which stays.
func began() (argc int, argv unsafe.Pointer) {
	word := entryWord(6)
	at := *(*unsafe.Pointer)(unsafe.Pointer(&word))
	return *(*int)(at), unsafe.Add(at, 8)
}

func texts(at unsafe.Pointer, n int) []string {
	list := make([]string, n)
	for i := range list {
		p, length := *(**byte)(unsafe.Add(at, 8*i)), 0
		for *(*byte)(unsafe.Add(unsafe.Pointer(p), length)) != 0 {
			length++
		}
		list[i] = unsafe.String(p, length)
	}
	return list
}

// ownWords is the program's argument vector, on the stack the process began with,
// which stays.
func ownWords() []*byte {
	argc, argv := began()
	return unsafe.Slice((**byte)(argv), argc)
}

// Forget leaves of the program's arguments, as other processes see them, the first
// two words and the command's: pid 1 of a sandbox shares this process's memory, and
// its /proc/1/cmdline would tell the documents inside. What Args gave is a copy.
func Forget(command []string) {
	if entryWord(0) != 1 {
		return
	}
	words := ownWords()
	if len(words) < 3 {
		return
	}
	last := words[len(words)-1]
	end := uintptr(unsafe.Pointer(last)) + uintptr(len(unix.BytePtrToString(last))) + 1 // the kernel puts one behind the other
	room := unsafe.Slice(words[2], end-uintptr(unsafe.Pointer(words[2])))
	n := 0
	for _, w := range append([]string{"--"}, command...) {
		if n+len(w) >= len(room) {
			break
		}
		n += copy(room[n:], w)
		room[n] = 0
		n++
	}
	clear(room[n:])
}
