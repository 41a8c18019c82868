package relay

import (
	"io"
	"net"
	"testing"
	"time"
)

// links runs a benchmark on both ways to a server: directly over loopback, and through the relay.
func links(b *testing.B, serve func(*net.TCPConn), run func(*testing.B, func() *net.TCPConn)) {
	s := server(b, serve)
	b.Run("loopback", func(b *testing.B) {
		run(b, func() *net.TCPConn {
			c, err := net.Dial("tcp4", s.String())
			must(b, err)
			b.Cleanup(func() { c.Close() })
			return c.(*net.TCPConn)
		})
	})
	b.Run("relay", func(b *testing.B) {
		r, _ := process(b, nil, everywhere)
		run(b, func() *net.TCPConn {
			c, _ := r.connect(to(s))
			c.SetDeadline(time.Time{})
			return c
		})
	})
}

// BenchmarkBulk measures one connection at full speed.
func BenchmarkBulk(b *testing.B) {
	links(b, func(c *net.TCPConn) {
		for block := make([]byte, 1<<20); ; {
			if _, err := c.Write(block); err != nil {
				return
			}
		}
	}, func(b *testing.B, connect func() *net.TCPConn) {
		c := connect()
		block := make([]byte, 1<<20)
		b.SetBytes(1 << 20)
		for b.Loop() {
			if _, err := io.ReadFull(c, block); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRoundTrip measures a short question and its answer on an open connection.
func BenchmarkRoundTrip(b *testing.B) {
	links(b, echo, func(b *testing.B, connect func() *net.TCPConn) {
		c := connect()
		block := make([]byte, 100)
		for b.Loop() {
			c.Write(block)
			if _, err := io.ReadFull(c, block); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkConnect measures a connection with a short question and its answer.
func BenchmarkConnect(b *testing.B) {
	links(b, echo, func(b *testing.B, connect func() *net.TCPConn) {
		block := make([]byte, 100)
		for b.Loop() {
			c := connect()
			c.Write(block)
			if _, err := io.ReadFull(c, block); err != nil {
				b.Fatal(err)
			}
			c.Close()
		}
	})
}
