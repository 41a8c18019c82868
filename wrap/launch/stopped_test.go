package launch

import (
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A signal is pending while a tracer keeps its process from acting on it, and no longer once
// the process goes on. A blocked signal is not waited for.
func TestPendingUntilActedOn(t *testing.T) {
	onThread(func() {
		runtime.LockOSThread() // a tracer is one thread
		defer runtime.UnlockOSThread()
		cmd := exec.Command("sleep", "60")
		cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pid := cmd.Process.Pid
		defer func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}()
		if _, err := unix.Wait4(pid, nil, 0, nil); err != nil { // it stops at its execve
			t.Fatal(err)
		}
		c := &child{noPidNS: true}
		mask := func(set uint64) {
			const setsigmask = 0x420b // PTRACE_SETSIGMASK, Linux 3.11
			if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, setsigmask, uintptr(pid), 8, uintptr(unsafe.Pointer(&set)), 0, 0); errno != 0 {
				t.Error(errno)
			}
		}
		pending := func(when string, want bool) {
			if got := c.isPending(unix.SIGTSTP); got != want {
				t.Errorf("%s: pending %v, want %v", when, got, want)
			}
		}
		pending("before the signal", false)
		if err := unix.Kill(pid, unix.SIGTSTP); err != nil {
			t.Fatal(err)
		}
		pending("stopped by the tracer", true)
		mask(1 << (unix.SIGTSTP - 1))
		pending("blocked", false)
		mask(0)
		pending("no longer blocked", true)
		if err := unix.PtraceDetach(pid); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(10 * time.Second); c.isPending(unix.SIGTSTP); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("still pending")
			}
		}
	})
}
