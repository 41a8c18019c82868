package relay

import (
	"bytes"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"sbx/internal/reach"
	"sbx/internal/relay/wire"
)

const everywhere = "127.0.0.0/8:*"

// If one side ends, the other learns of it and may continue.
func TestHalfClose(t *testing.T) {
	t.Run("the command ends first", func(t *testing.T) {
		s := server(t, func(c *net.TCPConn) {
			got, _ := io.ReadAll(c)
			io.WriteString(c, "after "+string(got))
		})
		b := start(t, Options{}, everywhere)
		c, n := b.connect(to(s))
		io.WriteString(c, "the end")
		must(t, c.CloseWrite())
		if got, err := io.ReadAll(c); string(got) != "after the end" || err != nil {
			t.Errorf("read %q, %v", got, err)
		}
		if e := b.ended(n); e != (wire.Ended{Token: n, Up: 7, Down: 13}) {
			t.Errorf("ended as %+v", e)
		}
	})
	t.Run("the host ends first", func(t *testing.T) {
		got := make(chan string, 1)
		s := server(t, func(c *net.TCPConn) {
			c.CloseWrite()
			b, _ := io.ReadAll(c)
			got <- string(b)
		})
		b := start(t, Options{}, everywhere)
		c, n := b.connect(to(s))
		if rest, err := io.ReadAll(c); len(rest) != 0 || err != nil {
			t.Errorf("read %q, %v", rest, err)
		}
		io.WriteString(c, "still here")
		must(t, c.CloseWrite())
		if s := <-got; s != "still here" {
			t.Errorf("the host read %q", s)
		}
		b.ended(n)
	})
}

// If one side resets its connection, the other's is reset, too.
func TestReset(t *testing.T) {
	t.Run("by the host", func(t *testing.T) {
		s := server(t, func(c *net.TCPConn) {
			io.ReadFull(c, make([]byte, 1))
			c.SetLinger(0)
		})
		b := start(t, Options{}, everywhere)
		c, n := b.connect(to(s))
		io.WriteString(c, "x")
		if _, err := io.ReadAll(c); !isReset(err) {
			t.Errorf("read %v", err)
		}
		b.ended(n)
	})
	t.Run("by the command", func(t *testing.T) {
		got := make(chan error, 1)
		s := server(t, func(c *net.TCPConn) {
			_, err := io.ReadAll(c)
			got <- err
		})
		b := start(t, Options{}, everywhere)
		c, n := b.connect(to(s))
		io.WriteString(c, "x")
		c.SetLinger(0)
		c.Close()
		if err := <-got; !isReset(err) {
			t.Errorf("the host read %v", err)
		}
		b.ended(n)
	})
}

// If no server answers, the connection is reset, and the reason reported.
func TestNoAnswer(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	l.Close()
	b := start(t, Options{}, everywhere)
	c, n := b.connect(to(l.Addr()))
	if _, err := io.ReadAll(c); !isReset(err) {
		t.Errorf("read %v", err)
	}
	if e := b.ended(n); e.Outcome != wire.NoAnswer || !strings.Contains(e.Detail, "connection refused") {
		t.Errorf("ended as %+v", e)
	}
}

// A connection that was not announced leads nowhere, and a token works only once.
func TestToken(t *testing.T) {
	s := server(t, echo)
	b := start(t, Options{}, everywhere)
	c, n := b.connect(to(s))
	io.WriteString(c, "x")
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	for _, token := range []uint32{n, n + 1000} {
		stolen, err := b.led4(token)
		if err == nil {
			_, err = io.ReadAll(stolen)
			stolen.Close()
		}
		if !isReset(err) {
			t.Errorf("token %d: %v", token, err)
		}
		expect(b, func(e wire.Ended) bool { return e == wire.Ended{Token: token, Outcome: wire.Unknown} })
	}
}

// Data that a client does not read waits at its server, and delays no other connection.
func TestClientThatNeverReads(t *testing.T) {
	s := server(t, func(c *net.TCPConn) { io.Copy(c, zeros{}) })
	e := server(t, echo)
	b := start(t, Options{}, everywhere)
	var stuck []uint32
	for range 50 {
		_, n := b.connect(to(s))
		stuck = append(stuck, n)
	}
	c, n := b.connect(to(e))
	io.WriteString(c, "x")
	must(t, c.CloseWrite())
	if got, err := io.ReadAll(c); string(got) != "x" || err != nil {
		t.Errorf("another reads %q, %v", got, err)
	}
	b.ended(n)
	b.control.CloseWrite() // the end of the run ends and reports them
	for _, n := range stuck {
		b.ended(n)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// With the maximum number of open connections, another one is refused at once, until one ends.
func TestBound(t *testing.T) {
	s := server(t, echo)
	b := start(t, Options{Connections: 3}, everywhere)
	open := func() (*net.TCPConn, uint32, error) {
		c, n := b.connect(to(s))
		_, err := io.WriteString(c, "x")
		if err == nil {
			_, err = io.ReadFull(c, make([]byte, 1))
		}
		return c, n, err
	}
	var first uint32
	var conns []*net.TCPConn
	for range 3 {
		c, n, err := open()
		must(t, err)
		conns = append(conns, c)
		first = n - 2
	}
	_, n, err := open()
	if !isReset(err) {
		t.Errorf("the fourth: %v", err)
	}
	if e := b.ended(n); e.Outcome != wire.NoAnswer || e.Detail != "too many connections at once" {
		t.Errorf("ended as %+v", e)
	}
	conns[0].Close()
	b.ended(first)
	for range 100 { // the end is reported before its place is free
		if _, _, err = open(); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	must(t, err)
}

// Of more half-open connections than allowed each is refused or waits, and the relay serves clients
// that send something once these are gone.
func TestHalfOpen(t *testing.T) {
	s := server(t, echo)
	b := start(t, Options{Connections: 50}, everywhere)
	var open []*net.TCPConn
	for range 300 {
		if c, _, err := b.tryConnect(to(s)); err == nil {
			open = append(open, c)
		}
	}
	for _, c := range open {
		c.Close()
	}
	b.mu.Lock()
	last := b.token
	b.mu.Unlock()
	for n := uint32(1); n <= last; n++ {
		b.ended(n)
	}
	var err error
	for range 100 {
		c, _ := b.connect(to(s))
		io.WriteString(c, "x")
		if _, err = io.ReadFull(c, make([]byte, 1)); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error(err)
}

// Many connections at once carry their bytes completely, and leave nothing behind.
func TestMany(t *testing.T) {
	count := 200
	if !testing.Short() {
		count = 1000
	}
	s := server(t, echo)
	b := start(t, Options{}, everywhere)
	b.ask("udp4", "localhost", dnsmessage.TypeA) // so that all of its sockets are served
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	for i := range count {
		c, n := b.connect(to(s))
		all.Go(func() {
			seed := [32]byte{byte(i), byte(i >> 8)}
			size := int64(100_000)
			sum, back := sha256.New(), sha256.New()
			all.Go(func() {
				io.Copy(c, io.TeeReader(io.LimitReader(rand.NewChaCha8(seed), size), sum))
				c.CloseWrite()
			})
			got, err := io.Copy(back, c)
			if got != size || err != nil {
				t.Errorf("connection %d: %d bytes, %v", i, got, err)
			}
			if e := b.ended(n); e.Up != uint64(size) || e.Down != uint64(size) || e.Outcome != wire.Done {
				t.Errorf("connection %d ended as %+v", i, e)
			}
			whole := sha256.New()
			io.Copy(whole, io.LimitReader(rand.NewChaCha8(seed), size))
			if !bytes.Equal(back.Sum(nil), whole.Sum(nil)) {
				t.Errorf("connection %d: other bytes came back", i)
			}
			c.Close()
		})
	}
	all.Wait()
	for range 200 {
		if runtime.NumGoroutine() <= before+2 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, before it was %d", runtime.NumGoroutine(), before)
}

// The relay ends with its supervisor, whatever connections are open.
func TestSupervisorDies(t *testing.T) {
	s := server(t, echo)
	b := start(t, Options{}, everywhere)
	c, _ := b.connect(to(s))
	io.WriteString(c, "x")
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	b.control.Close()
	select {
	case err := <-b.over:
		b.over <- err
	case <-time.After(wait):
		t.Fatal("the relay goes on")
	}
	if _, err := io.ReadAll(c); !isReset(err) {
		t.Errorf("the connection: %v", err)
	}
}

// A supervisor that died before it read everything counts as ended.
func TestSupervisorDiesUnread(t *testing.T) {
	ours, theirs := pair(t)
	_, err := theirs.Write((&wire.Named{N: 1, Name: "a.example"}).Append(nil))
	must(t, err)
	ours.Close()
	if err := Run(theirs, Options{}); err != nil {
		t.Errorf("it ends with %v", err)
	}
}

// A packet that no supervisor sends ends the relay, and the error says why.
func TestBadPackets(t *testing.T) {
	for name, packet := range map[string][]byte{
		"a kind that is none":       {99, 1, 2},
		"a rule that is none":       wire.AppendRule(nil, "no rule"),
		"half a packet":             {byte(wire.KindExpected), 1, 2},
		"sockets without any":       {byte(wire.KindSockets), 1, 0, 0, 0, 0, 0},
		"sockets with other flags":  {byte(wire.KindSockets), 1},
		"a packet of its own kinds": (&wire.Named{N: 1, Name: "a.example"}).Append(nil),
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := pair(t)
			defer ours.Close()
			_, err := ours.Write(packet)
			must(t, err)
			if err := Run(theirs, Options{}); err == nil {
				t.Error("it goes on")
			}
		})
	}
	t.Run("a socket of another kind", func(t *testing.T) {
		r, w, err := os.Pipe()
		must(t, err)
		defer w.Close()
		if err := Run(r, Options{}); err == nil {
			t.Error("it goes on")
		}
	})
}

// Announced connections that never came are forgotten, the oldest first, and only those are
// reported as forgotten.
func TestMeantIsBounded(t *testing.T) {
	var m expected
	for n := range uint32(3 * maxExpected) {
		old, forgotten := m.add(wire.Expected{Token: n, IP: reach.V4(1, 2, 3, 4)})
		if n == 5 {
			m.take(5)
		}
		if want := n >= maxExpected && n != maxExpected+5; forgotten != want || forgotten && old != n-maxExpected {
			t.Fatalf("after the %dth, %d is forgotten: %v", n, old, forgotten)
		}
	}
	if _, ok := m.take(2*maxExpected - 1); ok || len(m.at) != maxExpected {
		t.Errorf("%d are kept", len(m.at))
	}
	if _, ok := m.take(2 * maxExpected); !ok {
		t.Error("one of the newest is gone")
	}
}
