package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// get prints what a web server answers, whose name Go's own resolver finds.
func get(a []string) {
	c, err := net.Dial("tcp", a[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	host, _, _ := strings.Cut(a[0], ":")
	fmt.Fprintf(c, "GET / HTTP/1.0\r\nHost: %s\r\n\r\n", host)
	io.Copy(os.Stdout, c)
}

// claim prints what comes of listening at a port, at each of the addresses that lead there,
// by a socket that shares its port with whoever lets it. With a word more it binds one
// before, and listens by that once a line has come.
func claim(a []string) {
	port, _ := strconv.Atoi(a[0])
	loopback := &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
	if len(a) > 1 {
		fd, err := sharing(loopback)
		fmt.Println("bound\t" + word(err))
		bufio.NewReader(os.Stdin).ReadString('\n')
		fmt.Println("listens\t" + word(unix.Listen(fd, 1)))
		return
	}
	for name, at := range map[string]unix.Sockaddr{
		"127.0.0.1": loopback, "0.0.0.0": &unix.SockaddrInet4{Port: port},
		"::": &unix.SockaddrInet6{Port: port}, "::1": &unix.SockaddrInet6{Port: port, Addr: [16]byte{15: 1}},
		"::ffff:127.0.0.1": &unix.SockaddrInet6{Port: port, Addr: [16]byte{10: 255, 11: 255, 12: 127, 15: 1}},
	} {
		fd, err := sharing(at)
		if err == nil {
			err = unix.Listen(fd, 1)
		}
		unix.Close(fd)
		fmt.Println(name + "\t" + word(err))
	}
}

func sharing(at unix.Sockaddr) (fd int, err error) {
	domain := unix.AF_INET
	if _, six := at.(*unix.SockaddrInet6); six {
		domain = unix.AF_INET6
	}
	if fd, err = unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return -1, err
	}
	for _, option := range []int{unix.SO_REUSEADDR, unix.SO_REUSEPORT} {
		if err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, 1); err != nil {
			return fd, err
		}
	}
	return fd, unix.Bind(fd, at)
}

func word(err error) string {
	if err == nil {
		return "ok"
	}
	return errnoName(err)
}
