// Confined tries things as a relay that was broken into would, once as it is started and
// once confined, and prints what came of each.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/reach"
	"sbx/internal/relay"
)

func main() {
	server, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	routes, err := relay.OpenRoutes()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	netlink, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	relay.Prepare()
	if len(os.Args) > 1 {
		if err := relay.Confine(); err != nil {
			fmt.Println("confine:", err)
			os.Exit(1)
		}
	}
	var all sync.WaitGroup
	for range 20 { // on threads that were not there before
		all.Go(func() {
			runtime.LockOSThread()
			time.Sleep(time.Millisecond)
		})
	}
	all.Wait()
	for _, a := range []struct {
		name string
		do   func() error
	}{
		{"read a file", func() error { return open("/etc/passwd", unix.O_RDONLY) }},
		{"read a program", func() error { return open("/proc/self/exe", unix.O_RDONLY) }},
		{"write a file", func() error { return open("/dev/null", unix.O_WRONLY) }},
		{"list a directory", func() error {
			_, err := os.ReadDir("/etc")
			return err
		}},
		{"start a program", func() error { return unix.Exec("/nonexistent", nil, nil) }},
		{"signal another process", func() error { return unix.Kill(os.Getppid(), 0) }},
		{"change a limit of others", func() error { return unix.Setpriority(unix.PRIO_PROCESS, 0, 19) }},
		{"talk to programs", func() error { return socket(unix.AF_UNIX) }},
		{"talk to the kernel", func() error { return socket(unix.AF_NETLINK) }},
		{"listen", func() error {
			l, err := net.Listen("tcp4", "127.0.0.1:0")
			if err == nil {
				l.Close()
			}
			return err
		}},
		{"execute memory", func() error {
			m, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
			if err == nil {
				unix.Munmap(m)
			}
			return err
		}},
		{"trace", func() error { return unix.PtraceAttach(-1) }},
		{"look names up", func() error {
			r := net.Resolver{PreferGo: true}
			_, err := r.LookupNetIP(context.Background(), "ip", "localhost")
			return err
		}},
		{"connect", func() error {
			c, err := net.Dial("tcp", server.Addr().String())
			if err == nil {
				c.Close()
			}
			return err
		}},
		{"make a pipe", func() error {
			var p [2]int
			return unix.Pipe2(p[:], 0)
		}},
		{"ask for a route", func() error {
			if what := routes.Own(reach.V4(127, 0, 0, 1)); what != "the host's own" {
				return errors.New(what)
			}
			return nil
		}},
		{"delete a route", func() error { return deleteRoute(netlink) }},
	} {
		fmt.Printf("%s: %s\n", a.name, told(a.do()))
	}
}

// deleteRoute has the kernel delete a route to 192.0.2.1, of which there is none.
func deleteRoute(netlink int) error {
	b := make([]byte, 36)
	b[0], b[4], b[6] = 36, unix.RTM_DELROUTE, unix.NLM_F_REQUEST|unix.NLM_F_ACK
	b[16], b[17], b[20] = unix.AF_INET, 32, unix.RT_TABLE_MAIN
	copy(b[28:], []byte{8, 0, unix.RTA_DST, 0, 192, 0, 2, 1})
	if err := unix.Sendto(netlink, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 1024)
	if n, _, err := unix.Recvfrom(netlink, answer, 0); err != nil || n < 20 {
		return errors.Join(errors.New("no answer"), err)
	}
	if errno := unix.Errno(-int32(binary.NativeEndian.Uint32(answer[16:]))); errno != 0 {
		return errno
	}
	return nil
}

// told is an error as its errno says it.
func told(err error) string {
	for err != nil {
		if e, ok := err.(unix.Errno); ok {
			return unix.ErrnoName(e)
		}
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err.Error()
		}
		err = u.Unwrap()
	}
	return "ok"
}

func open(name string, flags int) error {
	fd, err := unix.Open(name, flags|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func socket(family int) error {
	fd, err := unix.Socket(family, unix.SOCK_DGRAM, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}
