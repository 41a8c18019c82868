package listen

import (
	"testing"

	"golang.org/x/sys/unix"

	"sbx/internal/relay/wire"
)

// TestLeadWaitsForTheRelay: no connect fails because the relay reads late, whether it has to send a
// message first or gets no processor time.
func TestLeadWaitsForTheRelay(t *testing.T) {
	const times = 2000
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ends[0])
	if err := unix.SetNonblock(ends[0], true); err != nil {
		t.Fatal(err)
	}
	relay := make(chan int)
	go func() {
		defer unix.Close(ends[1])
		for n := range uint32(times) { // more than fit into the socket
			if unix.Send(ends[1], (&wire.Named{N: n + 1, Name: "good.example"}).Append(nil), unix.MSG_NOSIGNAL) != nil {
				break
			}
		}
		read := 0
		for b := make([]byte, wire.Max); read < times; read++ {
			if n, _ := unix.Read(ends[1], b); n <= 0 {
				break
			}
		}
		relay <- read
	}()
	e := &Egress{FD: ends[0], Lost: func() {}}
	for i := range times {
		if token, errno := e.expect(&wire.Expected{Port: 80}, &Relayed{}); errno != 0 || int(token) != i {
			t.Fatalf("connection %d: token %d, %v", i, token, errno)
		}
	}
	if read := <-relay; read != times || len(e.names) != times {
		t.Errorf("the relay got %d and told %d names", read, len(e.names))
	}
}
