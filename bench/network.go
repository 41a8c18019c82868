package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// These jobs measure what the network of an allow-list costs. The server is on the host's loopback.
// The helper talks to it directly, through sbx's relay, and through a CONNECT proxy. The proxy is
// how sandboxes work that set proxy variables: from bwrap's network namespace a socket in the
// workspace leads to it.

// bulkSize is how many bytes a server sends, shortTimes how many connections, or requests on one
// connection, are made one after the other for one figure.
const (
	bulkSize   = 256 << 20
	shortTimes = 2000
)

// allowed is sbx with one rule: for the job's server.
func (b *bencher) allowed(server string) contestant {
	return contestant{"sbx allow", func(b *bencher, p place, argv []string) []string {
		return append([]string{b.sbx, "exec", "-q", "--spec", p.spec, "--allow", server, "--"}, argv...)
	}}
}

// networking returns the jobs; none if sbx has no relay next to it.
func (b *bencher) networking() ([]job, error) {
	if !exists(filepath.Join(filepath.Dir(b.sbx), relay)) {
		return nil, nil
	}
	server, err := serve()
	if err != nil {
		return nil, err
	}
	allow := b.allowed(server)
	talk := func(words ...string) []string {
		return append([]string{filepath.Join(b.own.workspace, helper), "talk"}, words...)
	}
	way := filepath.Join(b.own.workspace, "proxy")
	if err := connectProxy(way); err != nil {
		return nil, err
	}
	peer := contestant{"bwrap and a proxy", func(b *bencher, p place, argv []string) []string {
		return append(bwrap.wrap(b, p, argv), way)
	}}
	both := []contestant{none, allow, peer}
	return []job{
		{name: "allow-start", what: "start of /bin/true under network.allow, more than under none", place: b.own, argv: []string{"/bin/true"}, many: 1,
			rounds: 60, quick: 10, of: []contestant{sbx, allow}, base: "sbx", on: allow.name, minus: true, gate: 6},
		{name: "allow-bulk", what: "256 MiB from a server on loopback", place: b.own, argv: talk("bulk", server), told: true,
			rounds: 15, quick: 4, of: both, base: "none", on: allow.name, gate: 1 / 0.70},
		{name: "allow-request", what: "one request and its answer on a connection", place: b.own, argv: talk("request", server), told: true,
			rounds: 15, quick: 4, of: both, base: "none", on: allow.name, minus: true, gate: 150},
		{name: "allow-short", what: "connect, one request, its answer, close", place: b.own, argv: talk("short", server), told: true,
			rounds: 15, quick: 4, of: both, base: "none", on: allow.name, minus: true, gate: 150},
	}, nil
}

// serve starts a server that answers a letter: "b" with bulkSize bytes, "s" with one byte, "r" with
// one byte again and again.
func serve() (address string, err error) {
	piece := make([]byte, 256<<10)
	return accept("tcp", "127.0.0.1:0", func(c net.Conn) {
		word := []byte{0}
		if _, err := c.Read(word); err != nil {
			return
		}
		for word[0] == 'r' {
			if _, err := c.Write(word); err != nil {
				return
			}
			if _, err := c.Read(word); err != nil {
				return
			}
		}
		if word[0] == 's' {
			_, _ = c.Write(word)
			return
		}
		for sent := 0; sent < bulkSize; sent += len(piece) {
			if _, err := c.Write(piece); err != nil {
				return
			}
		}
	})
}

// connectProxy starts a proxy at a socket. It supports only CONNECT, and allows every destination.
func connectProxy(path string) error {
	_ = os.Remove(path)
	_, err := accept("unix", path, func(c net.Conn) {
		r := bufio.NewReader(c)
		request, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", request.Host)
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		join(c, r, far)
	})
	return err
}

// join copies between from and far, both ways.
func join(c net.Conn, from io.Reader, far net.Conn) {
	defer func() { _ = far.Close() }()
	go func() {
		_, _ = io.Copy(far, from)
		if half, ok := far.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	}()
	_, _ = io.Copy(c, far)
}

// accept serves connections until the program ends.
func accept(network, address string, serve func(net.Conn)) (at string, err error) {
	l, err := net.Listen(network, address)
	if err != nil {
		return "", err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				serve(c)
				_ = c.Close()
			}()
		}
	}()
	return l.Addr().String(), nil
}

// talk is the client. "talk bulk SERVER [SOCKET]" reads everything that the server sends, "talk
// request SERVER [SOCKET]" asks it again and again, and "talk short SERVER [SOCKET]" asks it
// through a new connection each time. With SOCKET it connects through the proxy at that socket. It
// prints the nanoseconds of the transfer, or of one request.
func talk(args []string) {
	err := fmt.Errorf("usage: talk bulk|request|short SERVER [SOCKET]")
	if len(args) == 3 {
		const port = "127.0.0.1:3128"
		way := args[2]
		args[2] = port
		if _, err := accept("tcp", port, func(c net.Conn) {
			if far, err := net.Dial("unix", way); err == nil {
				join(c, c, far)
			}
		}); err != nil {
			fmt.Fprintln(os.Stderr, "talk:", err)
			os.Exit(1)
		}
	}
	if len(args) >= 2 {
		var took time.Duration
		switch args[0] {
		case "bulk":
			took, err = converse("b", bulkSize, args[1:])
		case "request":
			took, err = ask(args[1:])
		case "short":
			begin := time.Now()
			for i := 0; i < shortTimes; i++ {
				if _, err = converse("s", 1, args[1:]); err != nil {
					break
				}
			}
			took = time.Since(begin) / shortTimes
		}
		if err == nil {
			fmt.Println(strconv.FormatInt(took.Nanoseconds(), 10))
			return
		}
	}
	fmt.Fprintln(os.Stderr, "talk:", err)
	os.Exit(1)
}

// dial connects to a server, through a proxy if there is one.
func dial(where []string) (net.Conn, error) {
	c, err := net.Dial("tcp", where[len(where)-1])
	if err != nil || len(where) == 1 {
		return c, err
	}
	_, err = fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", where[0], where[0])
	head := make([]byte, len("HTTP/1.1 200 OK\r\n\r\n"))
	if err == nil {
		_, err = io.ReadFull(c, head)
	}
	return c, err
}

// ask measures the time of one request on a connection.
func ask(where []string) (time.Duration, error) {
	c, err := dial(where)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	begin, word := time.Now(), []byte("r")
	for range shortTimes {
		if _, err := c.Write(word); err != nil {
			return 0, err
		}
		if _, err := io.ReadFull(c, word); err != nil {
			return 0, err
		}
	}
	return time.Since(begin) / shortTimes, nil
}

func converse(word string, size int64, where []string) (time.Duration, error) {
	begin := time.Now()
	c, err := dial(where)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, word); err != nil {
		return 0, err
	}
	buf, got := make([]byte, min(size, 256<<10)), int64(0)
	for err == nil {
		var n int
		n, err = c.Read(buf)
		got += int64(n)
	}
	if err != io.EOF || got != size {
		return 0, fmt.Errorf("%d bytes of %d: %w", got, size, err)
	}
	return time.Since(begin), nil
}
