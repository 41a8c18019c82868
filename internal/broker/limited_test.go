package broker

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// A client that reads no answer keeps its place only as long as the listener's patience lasts; a
// client that reads gets the whole answer.
func TestWhoReadsNothingLosesItsPlace(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const size = 64 << 20 // more than the buffers of both sides
	l := limited{inner, newPlaces(1, 300*time.Millisecond)}
	defer l.Close()
	ended := make(chan error)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.(*slot).calls = true
			_, err = c.Write(make([]byte, size))
			_ = c.Close()
			ended <- err
		}
	}()
	for _, reads := range []bool{false, true} {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		got := 0
		for part := make([]byte, 1<<20); reads && got < size; {
			n, err := c.Read(part)
			if got += n; err != nil {
				t.Fatalf("who reads has %d bytes, %v", got, err)
			}
		}
		select {
		case err := <-ended:
			if timeout := errors.Is(err, os.ErrDeadlineExceeded); timeout == reads {
				t.Errorf("reading %v: the write ends with %v", reads, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("reading %v: the place is still taken", reads)
		}
	}
}
