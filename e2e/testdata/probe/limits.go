package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hog takes that many MiB, and tells when it has them. With a second word it
// then holds them for some seconds.
func hog(a []string) {
	var all [][]byte
	for range number(a[0]) {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		all = append(all, b)
	}
	fmt.Println("has", len(all))
	if len(a) > 1 {
		time.Sleep(10 * time.Second)
	}
	runtime.KeepAlive(all)
	fmt.Println("end")
}

// stuff leaves up to that many MiB in the buffers of TCP connections to itself,
// which nobody reads, and tells how many they are.
func stuff(a []string) {
	bound := number(a[0]) << 20
	server, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	local := &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	if err == nil {
		err = unix.Bind(server, local)
	}
	if err == nil {
		err = unix.Listen(server, 8)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	at, _ := unix.Getsockname(server)
	held, piece := 0, make([]byte, 64<<10)
	for c := 0; c < number(a[1]) && held < bound; c++ {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err == nil {
			err = unix.Connect(fd, at)
		}
		if err == nil {
			_, _, err = unix.Accept(server)
		}
		if err != nil {
			fmt.Println(err)
			break
		}
		for tries := 0; tries < 3 && held < bound; {
			n, err := unix.SendmsgN(fd, piece, nil, nil, unix.MSG_DONTWAIT)
			if err != nil {
				time.Sleep(2 * time.Millisecond)
				tries++
				continue
			}
			held += n
		}
	}
	fmt.Printf("held\t%d\nend\n", held>>20)
}

// forks starts children that wait, at most so many, and tells how many came to
// be beside its own threads.
func forks(a []string) {
	runtime.LockOSThread()
	var pids []int
	why := "ok"
	for range number(a[0]) {
		pid, _, e := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
		if e == 0 && pid == 0 {
			for {
				syscall.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
			}
		}
		if e != 0 {
			why = errnoName(e)
			break
		}
		pids = append(pids, int(pid))
	}
	threads, _ := os.ReadDir("/proc/self/task")
	for _, pid := range pids {
		unix.Kill(pid, unix.SIGKILL)
		unix.Wait4(pid, nil, 0, nil)
	}
	fmt.Printf("forks\t%s\nchildren\t%d\nall\t%d\nend\n", why, len(pids), len(pids)+len(threads))
}

// bomb forks twice and then each child again, to a depth: a bomb that goes out
// by itself. All of it waits.
func bomb(a []string) {
	runtime.LockOSThread()
	for range number(a[0]) {
		syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	}
	for {
		syscall.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
	}
}

// spin uses two processors for that many milliseconds.
func spin(a []string) {
	end := time.Now().Add(time.Duration(number(a[0])) * time.Millisecond)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for time.Now().Before(end) {
			}
		})
	}
	both.Wait()
	fmt.Println("end")
}

// fill writes that many KiB to a file.
func fill(a []string) {
	f, err := os.OpenFile(a[0], os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	must("open", err)
	block := make([]byte, 1024)
	wrote := 0
	for range number(a[1]) {
		n, err := f.Write(block)
		wrote += n
		if err != nil {
			fmt.Printf("fill\t%s\n", errnoName(err))
			break
		}
	}
	fmt.Printf("wrote\t%d\nend\n", wrote)
}

// openMany opens so many descriptors.
func openMany(a []string) {
	for n := range number(a[0]) {
		if _, err := unix.Open("/dev/null", unix.O_RDONLY, 0); err != nil {
			fmt.Printf("open\t%s\nopened\t%d\n", errnoName(err), n)
			break
		}
	}
	// What is the limit cannot be raised, by whom it binds.
	lim := unix.Rlimit{Cur: 1 << 16, Max: 1 << 16}
	word := "ok"
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &lim, nil); err != nil {
		word = errnoName(err)
	}
	fmt.Printf("raise\t%s\nend\n", word)
}
