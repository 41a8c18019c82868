package main

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// loop opens, reads and closes a file n times and prints the nanoseconds of
// one turn. It calls the kernel itself: package os would add work of its own.
func loop(args []string) {
	n, err := strconv.Atoi(args[0])
	if err != nil || len(args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: loop N FILE")
		os.Exit(2)
	}
	buf := make([]byte, 128)
	begin := time.Now()
	for range n {
		fd, err := syscall.Open(args[1], syscall.O_RDONLY, 0)
		if err == nil {
			_, err = syscall.Read(fd, buf)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "loop:", err)
			os.Exit(1)
		}
		if err := syscall.Close(fd); err != nil {
			os.Exit(1)
		}
	}
	fmt.Println(time.Since(begin).Nanoseconds() / int64(n))
}

// refused opens for writing, n times, what may only be read inside, and prints
// the nanoseconds of one try.
func refused(n string) {
	times, err := strconv.Atoi(n)
	if err != nil {
		fmt.Fprintln(os.Stderr, "usage: refused N")
		os.Exit(2)
	}
	begin := time.Now()
	for range times {
		if fd, err := syscall.Open("/etc/passwd", syscall.O_RDWR, 0); err == nil {
			_ = syscall.Close(fd) // outside of a sandbox, as root
		}
	}
	fmt.Println(time.Since(begin).Nanoseconds() / int64(times))
}

// answered makes a call n times that the supervisor of a sandbox is asked about,
// and prints the nanoseconds of one: an exec of what is not there, an open for
// writing of a file of the current folder's, the making of a folder that is there, or
// the removal of a folder as if it were a file, which fails without any work.
func answered(args []string) {
	n := 0
	if len(args) == 2 {
		n, _ = strconv.Atoi(args[1])
	}
	const file = "answered.file"
	here, _ := os.Getwd()
	there := here + "/answered.folder"
	run := func(program string) func() error {
		return func() error { return syscall.Exec(program, []string{"x"}, nil) }
	}
	try := map[string]func() error{
		"exec":          run("/usr/bin/no-such-program"),
		"relative-exec": run("no-such-program"),
		"open": func() error {
			fd, err := syscall.Open(file, syscall.O_RDWR|syscall.O_CREAT, 0o644)
			if err == nil {
				err = syscall.Close(fd)
			}
			return err
		},
		"present": func() error { return syscall.Mkdir(there, 0o755) },
		"name":    func() error { return syscall.Unlink(there) },
	}
	if n == 0 || try[args[0]] == nil {
		fmt.Fprintln(os.Stderr, "usage: answered exec|relative-exec|open|present|name N")
		os.Exit(2)
	}
	call, want := try[args[0]], error(nil)
	switch args[0] {
	case "exec", "relative-exec":
		want = syscall.ENOENT
	case "present", "name":
		_ = syscall.Mkdir(there, 0o755)
		if want = syscall.EISDIR; args[0] == "present" {
			want = syscall.EEXIST
		}
	}
	begin := time.Now()
	for range n {
		if err := call(); err != want {
			fmt.Fprintln(os.Stderr, "answered:", err)
			os.Exit(1)
		}
	}
	fmt.Println(time.Since(begin).Nanoseconds() / int64(n))
}
