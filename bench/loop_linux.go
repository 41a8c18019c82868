package main

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// loop opens, reads and closes a file n times and prints the nanoseconds of one turn. It makes the
// system calls itself, since package os would add work of its own.
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

// refused tries n times to open a file for writing that is read-only inside, and prints the
// nanoseconds of one try.
func refused(n string) {
	times, err := strconv.Atoi(n)
	if err != nil {
		fmt.Fprintln(os.Stderr, "usage: refused N")
		os.Exit(2)
	}
	begin := time.Now()
	for range times {
		if fd, err := syscall.Open("/etc/passwd", syscall.O_RDWR, 0); err == nil {
			_ = syscall.Close(fd) // succeeds outside of a sandbox, as root
		}
	}
	fmt.Println(time.Since(begin).Nanoseconds() / int64(times))
}
