package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// answered makes a system call n times that the supervisor of a sandbox answers, and prints the
// nanoseconds of one. The call is an exec of a missing file, an open for writing of a file in the
// current directory, a mkdir of an existing directory, or an unlink of a directory, which fails
// without any work. It bypasses the Go runtime: the runtime takes the processor away from a thread
// in a long system call, which would be measured as well.
func answered(args []string) {
	n := 0
	if len(args) == 2 {
		n, _ = strconv.Atoi(args[1])
	}
	here, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "answered:", err)
		os.Exit(1)
	}
	there := here + "/answered.folder"
	if err := os.MkdirAll(there, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, "answered:", err)
		os.Exit(1)
	}
	cwd := unix.AT_FDCWD
	at, none := uintptr(cwd), [1]uintptr{}
	exec := func(program string) func() unix.Errno {
		path := pathOf(program)
		return func() unix.Errno {
			_, _, e := unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&none)), uintptr(unsafe.Pointer(&none)))
			return e
		}
	}
	file, dir := pathOf("answered.file"), pathOf(there)
	open := func() unix.Errno {
		fd, _, e := unix.RawSyscall6(unix.SYS_OPENAT, at, uintptr(unsafe.Pointer(file)), unix.O_RDWR|unix.O_CREAT, 0o644, 0, 0)
		if e == 0 {
			_, _, e = unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
		}
		return e
	}
	makes := func() unix.Errno {
		_, _, e := unix.RawSyscall(unix.SYS_MKDIRAT, at, uintptr(unsafe.Pointer(dir)), 0o755)
		return e
	}
	removes := func() unix.Errno {
		_, _, e := unix.RawSyscall(unix.SYS_UNLINKAT, at, uintptr(unsafe.Pointer(dir)), 0)
		return e
	}
	calls := map[string]struct {
		call func() unix.Errno
		want unix.Errno
	}{
		"exec":          {exec("/usr/bin/no-such-program"), unix.ENOENT},
		"relative-exec": {exec("no-such-program"), unix.ENOENT},
		"open":          {open, 0},
		"present":       {makes, unix.EEXIST},
		"name":          {removes, unix.EISDIR},
	}
	c, ok := calls[args[0]]
	if n == 0 || !ok {
		fmt.Fprintln(os.Stderr, "usage: answered exec|relative-exec|open|present|name N")
		os.Exit(2)
	}
	begin := time.Now()
	for range n {
		if e := c.call(); e != c.want {
			fmt.Fprintln(os.Stderr, "answered:", e)
			os.Exit(1)
		}
	}
	fmt.Println(time.Since(begin).Nanoseconds() / int64(n))
}

func pathOf(text string) *byte {
	path, err := unix.BytePtrFromString(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, "answered:", err)
		os.Exit(1)
	}
	return path
}
