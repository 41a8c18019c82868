package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// exit ends with a status, or by a signal of its own ("sig9").
func exit(a []string) {
	if n, ok := strings.CutPrefix(a[0], "sig"); ok {
		// The runtime's handlers are in the way of the default.
		sig := syscall.Signal(number(n))
		signal.Reset(sig)
		argv := []string{"/bin/sh", "-c", "kill -" + n + " $$; sleep 5"}
		fmt.Fprintln(os.Stderr, syscall.Exec(argv[0], argv, os.Environ()))
		os.Exit(99)
	}
	os.Exit(number(a[0]))
}

// fds lists the open descriptors and what they are.
func fds([]string) {
	dir, err := unix.Open("/proc/self/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for n := 0; n < 1024; n++ {
		if n == dir {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 { // the runtime's own
			continue
		}
		to, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(n))
		fmt.Printf("%d\t%s\n", n, to)
	}
	fmt.Println("end")
}

// signals counts the signals that come until stdin ends.
func signals(a []string) {
	c := make(chan os.Signal, 64)
	for _, s := range a {
		signal.Notify(c, syscall.Signal(number(s)))
	}
	fmt.Println("ready")
	over := make(chan bool)
	go func() { io.Copy(io.Discard, os.Stdin); close(over) }()
	counts := map[int]int{}
	for {
		select {
		case s := <-c:
			counts[int(s.(syscall.Signal))]++
			fmt.Printf("got %d\n", int(s.(syscall.Signal)))
			continue
		case <-over:
		case <-time.After(15 * time.Second):
		}
		break
	}
	time.Sleep(100 * time.Millisecond) // a second copy would be here by now
	for len(c) > 0 {
		counts[int((<-c).(syscall.Signal))]++
	}
	var nrs []int
	for n := range counts {
		nrs = append(nrs, n)
	}
	sort.Ints(nrs)
	for _, n := range nrs {
		fmt.Printf("count %d\t%d\n", n, counts[n])
	}
	fmt.Println("end")
}

// hash copies stdin to stdout, and the sum of what passed to stderr.
func hash([]string) {
	h := sha256.New()
	n, err := io.CopyBuffer(io.MultiWriter(os.Stdout, h), struct{ io.Reader }{os.Stdin}, make([]byte, 1<<20))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stderr, "%d %x end\n", n, h.Sum(nil))
}

func sleep(a []string) { time.Sleep(time.Duration(number(a[0])) * time.Second) }

// orphans starts a daemon that has left session and parents behind, tells that
// it is there, and ends or waits.
func orphans(a []string) {
	switch a[0] {
	case "daemon": // a[1] is the name by which the host finds it
		syscall.Setsid()
		signal.Ignore(unix.SIGHUP, unix.SIGTERM, unix.SIGINT)
		time.Sleep(30 * time.Second)
		return
	case "middle":
		cmd := exec.Command("/proc/self/exe", "orphans", "daemon", a[1])
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	for i := 0; i < 3; i++ {
		if err := exec.Command("/proc/self/exe", "orphans", "middle", a[1]).Run(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	// No child of this process is a zombie, and none is its own any more.
	var ws unix.WaitStatus
	if _, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil); err != unix.ECHILD {
		fmt.Println("children are left:", err)
		os.Exit(1)
	}
	fmt.Println("ready")
	if a[0] == "stay" {
		bufio.NewReader(os.Stdin).ReadString('\n')
	}
	fmt.Println("end")
}

// listen answers on a unix socket ("@name" is abstract) or a TCP port until
// stdin ends, and tells how many came.
func listen(a []string) {
	kind := unix.SOCK_STREAM
	if len(a) > 1 && a[1] == "dgram" {
		kind = unix.SOCK_DGRAM
	}
	var sa unix.Sockaddr = &unix.SockaddrUnix{Name: a[0]}
	family := unix.AF_UNIX
	if a[0] == "tcp" {
		family, sa = unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	}
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(fd, sa)
	}
	if err == nil && kind == unix.SOCK_STREAM {
		err = unix.Listen(fd, 8)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if a[0] == "tcp" {
		got, _ := unix.Getsockname(fd)
		fmt.Println("port", got.(*unix.SockaddrInet4).Port)
	}
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	unix.SetNonblock(fd, true)
	came := 0
	for {
		if kind == unix.SOCK_STREAM {
			_, _, err = unix.Accept4(fd, unix.SOCK_CLOEXEC)
		} else {
			_, _, err = unix.Recvfrom(fd, make([]byte, 64), 0)
		}
		if err != nil {
			break
		}
		came++
	}
	fmt.Printf("came\t%d\nend\n", came)
}

// with changes what a process hands on (ignore=N, block=N, umask=0NN,
// nice=N, slack=NANOSECONDS, nofile=SOFT:HARD, close=N, dir=N:PATH, path=N:PATH, open=N:PATH) and
// becomes the command behind "--".
func with(a []string) {
	runtime.LockOSThread()
	var set unix.Sigset_t
	for i, w := range a {
		if w == "--" {
			must("mask", unix.PthreadSigmask(unix.SIG_SETMASK, &set, nil))
			path, err := exec.LookPath(a[i+1])
			must(a[i+1], err)
			must("exec", syscall.Exec(path, a[i+1:], os.Environ()))
		}
		k, v, _ := strings.Cut(w, "=")
		n, rest, _ := strings.Cut(v, ":")
		switch k {
		case "ignore":
			signal.Ignore(syscall.Signal(number(v)))
		case "block":
			set.Val[0] |= 1 << (number(v) - 1)
		case "umask":
			unix.Umask(number(v))
		case "nice":
			must(w, unix.Setpriority(unix.PRIO_PROCESS, 0, number(v)))
		case "slack": // of this thread, which becomes the command
			must(w, unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(number(v)), 0, 0, 0))
		case "nofile":
			// By the package's own call, which then leaves the limit alone.
			must(w, syscall.Setrlimit(unix.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(number(n)), Max: uint64(number(rest))}))
		case "close":
			unix.Close(number(v))
		case "dir":
			place(number(n), rest, unix.O_RDONLY|unix.O_DIRECTORY)
		case "path":
			place(number(n), rest, unix.O_PATH)
		case "open":
			place(number(n), rest, unix.O_RDONLY)
		default:
			must(w, unix.EINVAL)
		}
	}
	os.Exit(64)
}

// place opens a file as that descriptor.
func place(n int, path string, flags int) {
	fd, err := unix.Open(path, flags, 0)
	must(path, err)
	if fd != n {
		must(path, unix.Dup2(fd, n))
		unix.Close(fd)
	}
}

func must(what string, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "probe:", what+":", err)
		os.Exit(99)
	}
}

// tty tells of the terminal, and of each change of its size.
func tty(a []string) {
	for fd := 0; fd < 3; fd++ {
		_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		fmt.Printf("isatty %d %v\n", fd, err == nil)
	}
	size := func(word string) {
		ws, err := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %dx%d\n", word, ws.Row, ws.Col)
	}
	c := make(chan os.Signal, 8)
	signal.Notify(c, unix.SIGWINCH)
	size("size")
	over := make(chan bool)
	go func() {
		bufio.NewReader(os.Stdin).ReadString('\n')
		close(over)
	}()
	for {
		select {
		case <-c:
			size("now")
			continue
		case <-over:
		case <-time.After(15 * time.Second):
		}
		break
	}
	fmt.Println("end")
}
