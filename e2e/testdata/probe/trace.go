package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ptraceSeize and ptraceInterrupt are of linux/ptrace.h.
const (
	ptraceSeize     = 0x4206
	ptraceInterrupt = 0x4207
)

// trace traces each process that comes after this one, as early as it can, until the file
// a[0] is there, and prints how many had a filter of system calls by then and how many none.
func trace(a []string) {
	runtime.LockOSThread()
	bare, walled := 0, 0
	for next := os.Getpid() + 1; !there(a[0]); {
		for pid := next; pid < next+20; pid++ {
			if _, _, e := unix.Syscall6(unix.SYS_PTRACE, ptraceSeize, uintptr(pid), 0, 0, 0, 0); e != 0 {
				continue
			}
			next = pid + 1
			_, _, _ = unix.Syscall6(unix.SYS_PTRACE, ptraceInterrupt, uintptr(pid), 0, 0, 0, 0)
			_, _ = unix.Wait4(pid, nil, unix.WALL, nil)
			status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
			switch {
			case strings.Contains(string(status), "Seccomp:\t0"):
				bare++
			case strings.Contains(string(status), "Seccomp:\t2"):
				walled++
			}
			_ = unix.PtraceDetach(pid)
		}
	}
	fmt.Printf("bare %d walled %d\n", bare, walled)
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
