package relay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/relay/wire"
)

// call connects to the nth published port.
func (b *bench) call(n int) *net.TCPConn {
	b.t.Helper()
	c, err := net.Dial("tcp4", b.host[n].String())
	must(b.t, err)
	b.t.Cleanup(func() { c.Close() })
	must(b.t, c.SetDeadline(time.Now().Add(wait)))
	return c.(*net.TCPConn)
}

// turnedAway reports whether a call to the nth published port is reset: connect, write or read
// fails, whichever first comes after the reset.
func (b *bench) turnedAway(n int) error {
	c, err := net.Dial("tcp4", b.host[n].String())
	if err == nil {
		defer c.Close()
		must(b.t, c.SetDeadline(time.Now().Add(wait)))
		if _, err = c.Write([]byte("x")); err == nil {
			_, err = c.Read(make([]byte, 1))
		}
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("want a reset, got %v", err)
	}
	return nil
}

func portOf(a net.Addr) uint16 { return uint16(a.(*net.TCPAddr).Port) }

// nobody returns a loopback port on which no program listens.
func nobody(t testing.TB) uint16 {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return portOf(l.Addr())
}

// A published port leads to the server inside, which is called from the loopback, also after one
// direction was closed.
func TestPublish(t *testing.T) {
	peers := make(chan string, 10)
	at := server(t, func(c *net.TCPConn) {
		peers <- c.RemoteAddr().(*net.TCPAddr).IP.String()
		got, _ := io.ReadAll(c)
		c.Write([]byte("got " + string(got)))
	})
	b := startPublishing(t, Options{}, []uint16{nobody(t), portOf(at)})
	for range 3 {
		c := b.call(1)
		c.Write([]byte("hello"))
		must(t, c.CloseWrite())
		if got, err := io.ReadAll(c); err != nil || string(got) != "got hello" {
			t.Fatalf("%q, %v", got, err)
		}
		if peer := <-peers; peer != "127.0.0.1" {
			t.Errorf("the server is called by %s", peer)
		}
	}
	want := wire.Ended{Token: wire.Published(1), Up: 9, Down: 5}
	if e := b.ended(wire.Published(1)); e != want {
		t.Errorf("it ended as %+v, want %+v", e, want)
	}
	if err := b.turnedAway(0); err != nil {
		t.Errorf("where nobody listens: %v", err)
	}
	if e := b.ended(wire.Published(0)); e.Outcome != wire.NoAnswer || e.Detail != "connection refused" {
		t.Errorf("where nobody listens: %+v", e)
	}
}

// A server that listens only on ::1 is found.
func TestPublishV6(t *testing.T) {
	b := startPublishing(t, Options{}, []uint16{portOf(serverAt(t, "[::1]:0", echo))})
	for range 3 {
		c := b.call(0)
		c.Write([]byte("hello"))
		must(t, c.CloseWrite())
		if got, err := io.ReadAll(c); err != nil || string(got) != "hello" {
			t.Fatalf("%q, %v", got, err)
		}
	}
}

// A socket that got the very port to which it connects is connected to itself, which does not count
// as a server.
func TestConnectToItself(t *testing.T) {
	for domain, loopback := range map[int]string{unix.AF_INET: "127.0.0.1:0", unix.AF_INET6: "[::1]:0"} {
		l, err := net.Listen("tcp", loopback)
		if err != nil && domain == unix.AF_INET6 {
			continue // there is none
		}
		must(t, err)
		to := l.Addr().(*net.TCPAddr).AddrPort()
		l.Close()
		bound := func() int {
			fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			must(t, err)
			must(t, unix.Bind(fd, sockaddr(to)))
			must(t, unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}))
			return fd
		}
		fd := bound()
		if err := unix.Connect(fd, sockaddr(to)); err != nil {
			t.Fatalf("%v: the kernel connects no socket to itself: %v", to, err)
		}
		unix.Close(fd)
		file := os.NewFile(uintptr(bound()), "socket")
		c, err := net.FileConn(file)
		must(t, err)
		file.Close()
		if err := connect(c.(*net.TCPConn), to); err != unix.ECONNREFUSED {
			t.Errorf("%v: %v", to, err)
		}
		reset(c.(*net.TCPConn))
	}
}

// With many calls at once all bytes arrive, and a client that does not read delays no other.
func TestPublishMany(t *testing.T) {
	b := startPublishing(t, Options{}, []uint16{portOf(server(t, echo))})
	lazy := b.call(0)
	must(t, lazy.SetDeadline(time.Time{}))
	go func() {
		for { // until all buffers on the way are full
			if _, err := lazy.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}()
	var all sync.WaitGroup
	for i := range 200 {
		c := b.call(0)
		all.Go(func() {
			sent := bytes.Repeat([]byte(strconv.Itoa(i)), 20000)
			go func() { c.Write(sent); c.CloseWrite() }()
			if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, sent) {
				t.Errorf("%d: %d bytes of %d, %v", i, len(got), len(sent), err)
			}
		})
	}
	all.Wait()
}

// Incoming connections may use at most half of the places.
func TestPublishBounded(t *testing.T) {
	at := server(t, echo)
	b := startPublishing(t, Options{Connections: 4}, []uint16{portOf(at)}, at.String())
	answers := func(c *net.TCPConn) error {
		c.Write([]byte("x"))
		_, err := io.ReadFull(c, make([]byte, 1))
		return err
	}
	for range 2 {
		must(t, answers(b.call(0)))
	}
	if err := b.turnedAway(0); err != nil {
		t.Errorf("a third: %v", err)
	}
	if e := b.ended(wire.Published(0)); e.Outcome != wire.NoAnswer || e.Detail != "too many connections at once" {
		t.Errorf("a third: %+v", e)
	}
	c, _ := b.connect(to(at))
	must(t, answers(c))
}

// Programs inside that connect to the door get nothing from it, and delay nothing for long.
func TestDoorIsTheRelays(t *testing.T) {
	b := startPublishing(t, Options{}, []uint16{portOf(server(t, echo))})
	var strangers []net.Conn
	for _, d := range b.doors {
		for range 100 {
			c, err := net.Dial("tcp", d.String())
			must(t, err)
			defer c.Close()
			c.Write([]byte("hello"))
			strangers = append(strangers, c)
		}
	}
	c := b.call(0)
	c.Write([]byte("x"))
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Error(err)
	}
	for i, s := range strangers[:100] {
		s.SetDeadline(time.Now().Add(wait))
		if n, err := s.Read(make([]byte, 1)); n != 0 || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("stranger %d: %d bytes, %v", i, n, err)
		}
	}
}
